"""P8: what it costs to move 10,000 runs from one state to the next, on PostgreSQL.

Product: `TestRun.objects.move`: the conditional UPDATE, one event a run, the job's counters.
Reference: a raw `UPDATE … FROM unnest` of the same columns on other rows of the same table.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise
from statistics import median
from typing import Any

from django.db import connection

from bench import hub
from bench.place import Place
from bench.sampling import Pair, alternate, seconds
from bench.table import Line, at_most
from burnin.models import Job, TestRun
from burnin.states import RunState
from fleet.models import Node, ResourceClass, Site

RUNS = 10_000
TRIPS = 2
WAY = (
    RunState.PLANNED,
    RunState.DISPATCHED,
    RunState.SUBMITTED,
    RunState.RUNNING,
    RunState.FINISHED,
)
RAW = """
    UPDATE burnin_testrun SET state = %s, moved_at = %s, attempt_number = 1
    FROM unnest(%s::uuid[]) AS v(id) WHERE burnin_testrun.id = v.id AND state = %s
"""
TARGET = at_most(4, 2)


def measure(place: Place) -> Sequence[Line]:
    site = Site.objects.create(
        name=f"moves-{uuid.uuid4().hex[:8]}", partition="main", work_dir="/w", is_enabled=False
    )
    products: list[float] = []
    references: list[float] = []
    with hub.nothing_left():
        for _ in range(TRIPS):
            pair = _trip(planned(site), planned(site))
            products += pair.product
            references += pair.reference
    ratio = median(products) / median(references)
    return [
        Line(
            "P8",
            f"state writes, {RUNS:,} runs, PostgreSQL",
            f"{median(products) * 1e3:.0f} ms",
            f"{median(references) * 1e3:.0f} ms",
            ratio,
            ratio,
            TARGET,
            (
                f"{len(products)} moves each, in turn; product: UPDATE, {RUNS:,} events, counters,"
                " ids back; reference: raw UPDATE … FROM unnest, committed",
            ),
        )
    ]


def planned(site: Site) -> list[uuid.UUID]:
    """Plan a job's runs and return their ids."""
    generic, _ = ResourceClass.objects.get_or_create(
        name="cpu-generic", defaults={"gpus_per_node": 0}
    )
    node, _ = Node.objects.get_or_create(site=site, name="n1", resource_class=generic)
    job = Job.objects.create(site=site, steps=[], node_count=1)
    runs = [
        TestRun(job=job, site=site, stage=1, step=number, slug="single-node.hello-world")
        for number in range(RUNS)
    ]
    TestRun.objects.plan(runs, {run.pk: [node.pk] for run in runs}, now=_now())
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE burnin_testrun")
    return [run.pk for run in runs]


def _trip(ours: list[uuid.UUID], raw: list[uuid.UUID]) -> Pair:
    """Bring one set the product's way and the other the raw way, a move of each in turn."""
    steps, raw_steps = pairwise(WAY), pairwise(WAY)
    return alternate(
        lambda: seconds(lambda: _move(ours, *next(steps))),
        lambda: seconds(lambda: _move_raw(raw, *next(raw_steps))),
        rounds=len(WAY) - 1,
    )


def _move(run_ids: list[uuid.UUID], before: RunState, after: RunState) -> None:
    changes: dict[str, Any] = {"attempt_number": 1} if after is RunState.DISPATCHED else {}
    moved = TestRun.objects.move(run_ids, before, after, now=_now(), **changes)
    _all(len(moved))


def _move_raw(run_ids: list[uuid.UUID], before: RunState, after: RunState) -> None:
    with connection.cursor() as cursor:
        cursor.execute(RAW, [after.value, _now(), run_ids, before.value])
        _all(cursor.rowcount)


def _all(moved: int) -> None:
    if moved != RUNS:
        raise RuntimeError(f"{moved} of {RUNS} runs moved")


def _now() -> datetime:
    return datetime.now(UTC)
