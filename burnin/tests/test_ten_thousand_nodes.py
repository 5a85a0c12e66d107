"""What pages and REST read of a job of 10,000 nodes and 30 tests is as little as of 10 and 3."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import DjangoDbBlocker

from burnin.models import Job, Preset
from burnin.states import Cause, RunState, Verdict
from burnin.tests.api.callers import caller
from burnin.tests.dashboards.world import a_world
from burnin.tests.factories import a_job, a_user, bring_to, judge
from burnin.tests.growing import grow
from burnin.tests.models.measured import measured_margin
from fleet.access import Role
from fleet.models import Node
from runner.contract.slugs import all_slugs

NODES = 10
LARGEST_BYTES = 1_000_000
# {job} is a job at work on every node, {node} one of them.
PAGES = (
    "/",
    "/?part=fleet",
    "/nodes/",
    "/nodes/?place=waiting&page=2",
    "/nodes/?part=nodes&page=2",
    "/nodes/east/{node}/",
    "/nodes/east/{node}/?part=state",
    "/sites/",
    "/sites/east/",
    "/jobs/",
    "/jobs/{job}/",
    "/jobs/{job}/?part=state",
    "/jobs/{job}/?part=matrix&sort=class",
    "/jobs/{job}/?verdict=failed",
    "/jobs/{job}/runs",
)
REST = (
    "fleet",
    "sites",
    "nodes",
    "nodes?place=waiting",
    "nodes/east/{node}",
    "jobs",
    "jobs/{job}",
    "jobs/{job}/nodes",
    "runs?job={job}",
    "results?job={job}",
    "metrics?job={job}",
)


@dataclass(frozen=True)
class Look:
    """What an address cost: queries sent, bytes answered."""

    queries: int
    size_bytes: int


@pytest.fixture(scope="module", autouse=True)
def swept(django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Give back what 1.5 million rows took: PostgreSQL keeps their room, others read it."""
    yield
    with django_db_blocker.unblock():
        if connection.vendor == "postgresql":
            connection.cursor().execute("VACUUM ANALYZE")


def _slugs(count: int) -> list[str]:
    """Return so many tests; those that there are not are of an earlier release."""
    known = sorted(each for each in all_slugs() if each.startswith("single-node."))
    return [*known, *(f"single-node.retired-{place:02}" for place in range(count))][:count]


def _a_fleet(tests: int, times: int) -> Job:
    """Make a job at work that has found trouble of every kind, on ten nodes, `times` over."""
    now, slugs = timezone.now(), _slugs(tests)
    world = a_world(now, count=NODES)
    accepting = Preset.objects.get()
    accepting.steps.all().delete()
    for place, slug in enumerate(slugs, start=1):
        accepting.steps.create(position=place, stage=place, slug=slug, timeout_minutes=5)
    job, runs = a_job(world.nodes, *slugs, now=now, stage=tests)
    measured, last = runs[:-NODES], runs[-NODES:]
    judge(measured[2:], now=now, measured=measured_margin(0.1))
    judge(measured[:1], Verdict.FAILED, cause=Cause.HARDWARE, reason="Speed 7 GB/s, needs 8",
          now=now, measured=measured_margin(-0.1))  # fmt: skip
    judge(measured[1:2], Verdict.ERRORED, cause=Cause.TEST, reason="no tool on n2", now=now)
    bring_to(last[: NODES // 2], RunState.RUNNING, now=now)
    if times > 1:
        grow(times)
    return job


def _looks(pages: Client, rest: Client, job: Job) -> dict[str, Look]:
    named = {"job": job.pk, "node": Node.objects.order_by("pk").first()}
    found = {}
    asked = [(pages, each) for each in PAGES] + [(rest, f"/api/v1/{each}") for each in REST]
    for client, address in asked:
        url = address.format(**named)
        client.get(url)  # the use of a token is noted once
        with CaptureQueriesContext(
            connection,
        ) as caught:
            answer = client.get(url)
        assert answer.status_code == 200, (url, answer.content)
        found[address] = Look(len(caught), len(answer.content))
    return found


@pytest.mark.slow
@pytest.mark.django_db
def test_every_address_costs_the_same_queries_and_answers_in_bounded_size() -> None:
    pages = Client()
    reader: User = a_user(Role.VIEWER, None)
    pages.force_login(reader)
    rest = caller(reader)
    with transaction.atomic():
        few = _looks(pages, rest, _a_fleet(tests=3, times=1))
        transaction.set_rollback(True)

    many = _looks(pages, rest, _a_fleet(tests=30, times=1000))

    assert Node.objects.count() == 10_000
    assert {name: look.queries for name, look in many.items()} == {
        name: look.queries for name, look in few.items()
    }
    sizes = {name: look.size_bytes for name, look in many.items()}
    assert max(sizes.values()) < LARGEST_BYTES, sizes
