"""A small inventory and planned runs, for tests of whatever moves them."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import Any

from burnin.models import Attempt, Job, JobCount, TestRun
from burnin.states import RunState
from burnin.tests.factories import a_class, frozen_steps
from fleet.models import Node, Site
from runner.contract.slugs import Slugs

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)


def make_site(name: str = "east") -> Site:
    return Site.objects.create(name=name, partition="main", work_dir="/work")


def make_nodes(site: Site, count: int) -> list[Node]:
    generic = a_class()
    return Node.objects.bulk_create(
        Node(site=site, name=f"n{number}", resource_class=generic) for number in range(1, count + 1)
    )


def make_job(site: Site, *, node_count: int = 0) -> Job:
    return Job.objects.create(
        site=site, steps=frozen_steps([Slugs.HELLO_WORLD]), node_count=node_count
    )


def plan_runs(job: Job, nodes: list[Node], *, stage: int = 1) -> list[uuid.UUID]:
    """Plan one hello-world run on each node and return the ids, in the nodes' order."""
    runs = [
        TestRun(job=job, site_id=job.site_id, stage=stage, step=1, slug=Slugs.HELLO_WORLD)
        for _ in nodes
    ]
    members = {run.id: [node.pk] for run, node in zip(runs, nodes, strict=True)}
    TestRun.objects.plan(runs, members, now=NOW)
    return [run.id for run in runs]


def planned(count: int) -> list[uuid.UUID]:
    """Plan `count` runs of a new job at a new site."""
    site = make_site()
    return plan_runs(make_job(site, node_count=count), make_nodes(site, count))


_NEEDS: dict[RunState, dict[str, Any]] = {
    RunState.DISPATCHED: {"attempt_number": 1},
    RunState.JUDGED: {"verdict": "passed"},
}


def brought_to(state: RunState, count: int = 1) -> list[uuid.UUID]:
    """Return new runs that went the straight way to `state`."""
    ids, before = planned(count), RunState.PLANNED
    for after in list(RunState)[1 : list(RunState).index(state) + 1]:
        TestRun.objects.move(ids, before, after, now=NOW, **_NEEDS.get(after, {}))
        before = after
    return ids


def add_attempt(run_id: uuid.UUID, number: int = 1) -> Attempt:
    return Attempt.objects.create(
        run_id=run_id,
        number=number,
        script="#!/bin/sh\n",
        context={},
        bundle_sha256="0" * 64,
        asked_at=NOW,
        uploads_expire_at=NOW,
    )


def counters(job: Job) -> dict[tuple[int, str], int]:
    """Return what the job's counters say, zeros left out."""
    rows = JobCount.objects.filter(job=job).exclude(count=0)
    return {(row.stage, row.key): row.count for row in rows}


def recount(job: Job) -> dict[tuple[int, str], int]:
    """Return what the job's counters should say."""
    found: dict[tuple[int, str], int] = {}
    for run in TestRun.objects.filter(job=job):
        place = run.stage, run.verdict or run.state
        found[place] = found.get(place, 0) + 1
    return found
