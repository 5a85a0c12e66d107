"""The doorbells: who is woken, and that a task does its site's step."""

from datetime import UTC, datetime
from typing import Any

import pytest
from kombu.exceptions import OperationalError

from burnin import tasks
from burnin.models import TestRun
from burnin.satellite.messages import Fact, SubmitAnswered
from burnin.states import RunState
from burnin.tests.models.world import counters
from burnin.tests.workflow.facts import about, post, seen
from burnin.tests.workflow.simulated import BUNDLE, ONCE, Hub, make_hub
from burnin.workflow import wiring
from burnin.workflow.bells import Bell
from burnin.workflow.celery_bells import TASKS, CeleryBells
from burnin.workflow.stages import advance_site
from fleet.celery import BEAT_SCHEDULE, app
from fleet.models import Site

pytestmark = pytest.mark.django_db


class Rings:
    def __init__(self) -> None:
        self.rung: list[tuple[Bell, int]] = []

    def ring(self, bell: Bell, site_id: int) -> None:
        self.rung.append((bell, site_id))


@pytest.fixture
def rings(monkeypatch: pytest.MonkeyPatch) -> Rings:
    rings = Rings()
    monkeypatch.setattr(wiring, "bells", lambda: rings)
    return rings


def wire(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wiring, "store", lambda: hub.store)
    monkeypatch.setattr(wiring, "site_queue", lambda: hub.queue)
    monkeypatch.setattr(wiring, "hub_bundle", lambda: BUNDLE)
    Site.objects.update(heartbeat_at=datetime.now(UTC))


def test_a_tick_wakes_each_step_only_where_there_is_work(rings: Rings) -> None:
    idle, busy = make_hub("n1"), make_hub("w1", name="west")
    busy.plan()

    tasks.tick()

    assert rings.rung == [(Bell.DISPATCH, busy.site_row.pk)]
    assert idle.site_row.pk != busy.site_row.pk


def test_a_tick_finds_finished_runs_that_nobody_rang_for(rings: Rings) -> None:
    hub = make_hub("n1")
    job = hub.plan()
    hub.work()
    hub.is_on = False
    hub.advance(30)
    assert counters(job) == {(1, RunState.FINISHED): 1}

    tasks.tick()

    assert rings.rung == [(Bell.COLLECT, hub.site_row.pk)]


def test_a_site_is_reconciled_while_slurm_has_a_job_of_ours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    busy, left, idle = make_hub("n1"), make_hub("w1", name="west"), make_hub("s1", name="south")
    busy.plan()
    for hub in (left, idle):
        hub.plan(ONCE)
        hub.work()
    given_up = {str(run.pk): run for run in TestRun.objects.exclude(site=busy.site_row)}
    for run in given_up.values():
        facts: list[Fact] = [SubmitAnswered(**about(run, answer="given_up"))]
        facts += [seen(run, "RUNNING")] if run.site_id == left.site_row.pk else []
        post(left, *facts, site=run.site)
        advance_site(run.site, left.now)
    woken: list[int] = []
    monkeypatch.setattr(
        tasks.reconcile_site, "apply_async", lambda kwargs, **_: woken.append(kwargs["site_id"])
    )

    tasks.reconcile_sites()

    assert sorted(woken) == [busy.site_row.pk, left.site_row.pk]


def test_the_tasks_carry_a_job_to_its_end(rings: Rings, monkeypatch: pytest.MonkeyPatch) -> None:
    hub = make_hub("n1")
    job = hub.plan()
    wire(hub, monkeypatch)
    hub.is_on = False

    tasks.dispatch_site(site_id=hub.site_row.pk)
    hub.advance(30)
    tasks.collect_site(site_id=hub.site_row.pk)
    tasks.reconcile_site(site_id=hub.site_row.pk)

    assert counters(job) == {(1, "passed"): 1}
    assert (Bell.DISPATCH, hub.site_row.pk) in rings.rung


def test_what_beat_and_bells_send_are_tasks_that_the_worker_has() -> None:
    app.loader.import_default_modules()
    wanted = {entry["task"] for entry in BEAT_SCHEDULE.values()} | set(TASKS.values())

    assert wanted <= set(app.tasks)
    assert all("expires" in entry["options"] for entry in BEAT_SCHEDULE.values())


@pytest.mark.parametrize("error", [OperationalError("refused"), ConnectionRefusedError("refused")])
def test_a_bell_that_nobody_can_hear_hurts_nobody(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr("burnin.workflow.celery_bells.current_app.send_task", refuse)

    CeleryBells().ring(Bell.COLLECT, 1)
