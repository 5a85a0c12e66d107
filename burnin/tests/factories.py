"""Rows for tests, made through the product's own moves where there is one.

`a_user`, `a_site`, `nodes_of`, `a_preset`, `a_job` make what a test stands on; `bring_to` and
`judge` move its runs.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from django.contrib.auth.models import Group, User

from burnin.hardware_tests.iterations import Measured
from burnin.hardware_tests.params import BadParams, parse_params
from burnin.hardware_tests.registry import UnknownSlug, get_test_class
from burnin.hardware_tests.resource_classes import HARDWARE
from burnin.models import Attempt, Job, JobNode, Preset, TestRun
from burnin.models.verdicts import RunVerdict, record_verdicts
from burnin.states import Cause, RunState, Verdict
from burnin.workflow.clocks import SKEW
from burnin.workflow.steps import Step
from fleet.access import Role
from fleet.models import Node, ResourceClass, Site, SiteAccess
from runner.contract.slugs import Slugs

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)


def a_class(name: str = "cpu-generic") -> ResourceClass:
    """Return the class; one that no release ships has no GPUs."""
    stated = HARDWARE.get(name, HARDWARE["cpu-generic"]).as_json()
    return ResourceClass.objects.get_or_create(name=name, defaults=stated)[0]


def a_site(name: str = "east", **fields: Any) -> Site:
    """Return a new site that has passed its check and whose satellite has just reported."""
    known = {"checked_at": NOW, "heartbeat_at": NOW, "partition": "main", "work_dir": "/work"}
    site = Site(name=name, reach={SKEW: 0.0}, **{**known, **fields})
    site.checked_configuration = site.configuration_digest()
    site.save()
    return site


def a_user(role: Role | None = Role.OPERATOR, *sites: Site | None, name: str = "ada") -> User:
    """Return a user with this role at these sites; None among them is every site."""
    user = User.objects.create_user(name, password="correct horse battery")
    if role is not None:
        user.groups.add(Group.objects.get(name=role))
    for site in sites:
        SiteAccess.objects.create(user=user, site=site)
    return user


def nodes_of(site: Site, count: int, *, prefix: str = "n", **fields: Any) -> list[Node]:
    """Return new nodes n1, n2, … of a site, written at once."""
    kind: ResourceClass = fields.pop("resource_class", None) or a_class()
    return Node.objects.bulk_create(
        Node(
            site=site,
            name=f"{prefix}{number}",
            resource_class=kind,
            dmi_serial=f"serial-{prefix}{number}",
            **{"slurm_state": "IDLE", "seen_at": NOW, **fields},
        )
        for number in range(1, count + 1)
    )


def a_preset(name: str, *slugs: str, accepts: ResourceClass | None = None) -> Preset:
    """Return a preset of these tests, one stage each."""
    preset = Preset.objects.create(name=name)
    if accepts is not None:
        preset.acceptances.create(resource_class=accepts)
    for position, slug in enumerate(slugs or (Slugs.HELLO_WORLD,), start=1):
        preset.steps.create(position=position, stage=position, slug=slug, timeout_minutes=5)
    return preset


def frozen_steps(
    slugs: Sequence[str], *, params: Mapping[str, Any] | None = None, iterations: int = 1
) -> list[dict[str, Any]]:
    """Return steps as a job freezes them, without limits: every param filled in."""
    return [
        Step(
            position=position,
            stage=position,
            slug=slug,
            params=_resolved(slug, params or {}),
            timeout_minutes=5,
            iterations=iterations,
            is_gate=True,
            measure_only=False,
            recipe={},
            thresholds={},
            hardware=HARDWARE,
        ).as_json()
        for position, slug in enumerate(slugs, start=1)
    ]


def _resolved(slug: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        return parse_params(get_test_class(slug), params).resolved()
    except (UnknownSlug, BadParams):
        return params  # of a test that there is no more, or that somebody else gives the rest of


def a_job(
    nodes: Sequence[Node], *slugs: str, now: datetime = NOW, **fields: Any
) -> tuple[Job, list[TestRun]]:
    """Return an active job with a planned run of each test on each node, stage by stage."""
    asked = slugs or (Slugs.HELLO_WORLD,)
    job = Job.objects.create(
        **{
            "site": nodes[0].site,
            "steps": frozen_steps(asked),
            "node_count": len(nodes),
            **fields,
        }
    )
    JobNode.objects.bulk_create(JobNode(job=job, node=node) for node in nodes)
    runs = [
        TestRun(job=job, site=job.site, stage=step, step=step, slug=slug)
        for step, slug in enumerate(asked, start=1)
        for _ in nodes
    ]
    members = {run.pk: [nodes[place % len(nodes)].pk] for place, run in enumerate(runs)}
    TestRun.objects.plan(runs, members, now=now)
    return job, runs


def bring_to(
    runs: Sequence[TestRun], state: RunState, *, now: datetime = NOW, slurm_job: int = 100
) -> None:
    """Move planned runs the straight way to a state short of judged, with their attempts."""
    path = [RunState.DISPATCHED, RunState.SUBMITTED, RunState.RUNNING, RunState.FINISHED]
    before = RunState.PLANNED
    for after in path[: path.index(state) + 1]:
        changes: dict[str, Any] = {"attempt_number": 1} if after is RunState.DISPATCHED else {}
        TestRun.objects.move([run.pk for run in runs], before, after, now=now, **changes)
        before = after
    is_submitted = state is not RunState.DISPATCHED
    Attempt.objects.bulk_create(
        Attempt(
            run_id=run.pk,
            number=1,
            script="#!/bin/sh\n",
            context={},
            bundle_sha256="0" * 64,
            asked_at=now,
            uploads_expire_at=now + timedelta(days=1),
            submission="accepted" if is_submitted else "asked",
            slurm_job_id=str(slurm_job + place) if is_submitted else "",
        )
        for place, run in enumerate(runs)
    )


def judge(
    runs: Sequence[TestRun],
    verdict: Verdict = Verdict.PASSED,
    *,
    cause: Cause = Cause.NONE,
    reason: str = "",
    now: datetime = NOW,
    began: datetime | None = None,
    facts: Sequence[Any] = (),
    measured: Measured | None = None,
) -> list[uuid.UUID]:
    """Bring planned runs to a verdict through the product's own moves."""
    bring_to(runs, RunState.FINISHED, now=now)
    attempts = dict(
        Attempt.objects.filter(run__in=[run.pk for run in runs]).values_list("run_id", "pk")
    )
    return record_verdicts(
        [
            RunVerdict(
                run_id=run.pk,
                verdict=verdict,
                cause=cause,
                reason=reason or verdict.value,
                attempt_id=attempts[run.pk],
                started_at=began or now,
                finished_at=now,
                facts=facts,
                measured=measured,
            )
            for run in runs
        ],
        before=RunState.FINISHED,
        now=now,
    )
