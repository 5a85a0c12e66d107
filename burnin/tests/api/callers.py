"""Clients that show a token, and the fleets that they look at."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from burnin.models import Artifact, Attempt, AuditEntry, Job, MetricRow, TestResult
from burnin.models.audit import Actor
from burnin.states import Cause, Verdict
from burnin.tests.factories import NOW, a_job, a_preset, judge, nodes_of
from burnin.workflow.steps import FrozenThresholds, Step, recipe_of
from fleet.models import ApiToken, HardwareOperation, Site
from fleet.models.api_token import Scope
from runner.contract.slugs import Slugs

EVERY_SCOPE = tuple(Scope.values)
API = "/api/v1/"


def text_of_token(user: User, scopes: Sequence[str] = EVERY_SCOPE, name: str = "test") -> str:
    now = timezone.now()
    _, text = ApiToken.issue(
        user, name=name, scopes=scopes, expires_at=now + timedelta(days=1), now=now
    )
    return text


def bearer(text: str) -> Client:
    return Client(headers={"authorization": f"Bearer {text}"})


def caller(user: User, scopes: Sequence[str] = EVERY_SCOPE) -> Client:
    """Return a client that shows a token of the user's, from this machine."""
    return bearer(text_of_token(user, scopes))


def post(client: Client, path: str, body: Any = None, **headers: str) -> Any:
    return client.post(
        f"{API}{path}", body or {}, content_type="application/json", headers=headers or None
    )


def frozen_step() -> dict[str, Any]:
    return Step(
        position=1, stage=1, slug=Slugs.HELLO_WORLD, params={}, timeout_minutes=5, iterations=1,
        is_gate=True, measure_only=False, recipe=recipe_of(Slugs.HELLO_WORLD),
        thresholds={"cpu-generic": FrozenThresholds(1, "shipped:x", {})},
    ).as_json()  # fmt: skip


def fill(site: Site, count: int) -> Job:
    """Give a site nodes with a failed run each, and a row of everything that REST shows."""
    nodes = nodes_of(site, count)
    job, runs = a_job(nodes, steps=[frozen_step()])
    judge(runs, Verdict.FAILED, cause=Cause.HARDWARE, reason="Memory errors 3, allows at most 0")
    results = TestResult.objects.filter(run__job=job).select_related("run")
    for result, node in zip(results, nodes, strict=True):
        MetricRow.objects.create(
            result=result, node=node, position=1, name="errors", label="Errors", value=3.0
        )
    for attempt in Attempt.objects.filter(run__job=job):
        key = f"artifacts/{attempt.run_id}/1/stdout.txt"
        Artifact.objects.create(
            attempt=attempt, name="stdout.txt", key=key, size_bytes=5, sha256="0" * 64
        )
    for node in nodes:
        HardwareOperation.objects.create(node=node, operation="dimm-swap", performed_at=NOW)
        AuditEntry.objects.write(
            Actor("ada"), "start job", job, site=site, reason=node.name, now=NOW
        )
        a_preset(f"preset-{node.pk}")
        a_job([node])
    return job
