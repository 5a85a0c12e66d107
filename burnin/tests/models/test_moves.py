"""Runs move set-based, once, with their events and counters, or not at all."""

import uuid
from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction

from burnin.models import Job, TestRun, TestRunEvent
from burnin.models.run import IllegalMove
from burnin.states import NEXT, RunState
from burnin.tests.models.world import (
    NOW,
    brought_to,
    counters,
    make_job,
    make_nodes,
    make_site,
    plan_runs,
    planned,
    recount,
)

LATER = NOW + timedelta(minutes=1)
pytestmark = pytest.mark.django_db


def test_planned_runs_have_their_nodes_an_event_and_a_counter() -> None:
    site = make_site()
    job, nodes = make_job(site), make_nodes(site, 3)

    ids = plan_runs(job, nodes)

    run = TestRun.objects.get(pk=ids[1])
    assert [member.node for member in run.members.all()] == [nodes[1]]
    assert [(each.before, each.after, each.at) for each in run.events.all()] == [
        ("", "planned", NOW)
    ]
    assert counters(job) == {(1, "planned"): 3}


def test_a_move_changes_the_runs_that_are_where_it_starts_and_names_them() -> None:
    ids = planned(3)
    TestRun.objects.move(ids[:1], RunState.PLANNED, RunState.DISPATCHED, now=NOW, attempt_number=1)

    moved = TestRun.objects.move(
        ids, RunState.PLANNED, RunState.DISPATCHED, now=LATER, attempt_number=7, note="again"
    )

    assert sorted(moved) == sorted(ids[1:])
    assert TestRun.objects.get(pk=ids[0]).attempt_number == 1
    late = TestRun.objects.get(pk=ids[2])
    assert (late.state, late.attempt_number, late.moved_at) == ("dispatched", 7, LATER)


def test_a_second_courier_moves_nothing_and_leaves_no_trace() -> None:
    ids = planned(2)
    for _ in range(2):
        moved = TestRun.objects.move(
            ids, RunState.PLANNED, RunState.DISPATCHED, now=NOW, attempt_number=1
        )

    assert moved == []
    assert TestRunEvent.objects.filter(after="dispatched").count() == 2
    assert counters(Job.objects.get()) == {(1, "dispatched"): 2}


def test_a_move_tells_why() -> None:
    [run_id] = planned(1)

    TestRun.objects.move(
        [run_id], RunState.PLANNED, RunState.JUDGED, now=NOW, verdict="skipped", note="drained"
    )

    event = TestRunEvent.objects.get(after="judged")
    assert (event.run_id, event.before, event.note) == (run_id, "planned", "drained")


def test_each_run_may_get_values_and_a_note_of_its_own() -> None:
    first, second = brought_to(RunState.FINISHED, 2)

    TestRun.objects.move_each(
        {
            first: {"verdict": "failed", "reason": "1 GB/s, needs at least 6"},
            second: {"verdict": "errored", "reason": "fio is missing"},
        },
        RunState.FINISHED,
        RunState.JUDGED,
        now=NOW,
        notes={second: "see stderr"},
    )

    assert TestRun.objects.get(pk=first).reason == "1 GB/s, needs at least 6"
    assert TestRun.objects.get(pk=second).verdict == "errored"
    assert TestRunEvent.objects.get(run=second, after="judged").note == "see stderr"
    assert counters(Job.objects.get()) == {(1, "failed"): 1, (1, "errored"): 1}


@pytest.mark.parametrize("before", RunState)
@pytest.mark.parametrize("after", RunState)
def test_only_the_moves_of_the_table_are_legal(before: RunState, after: RunState) -> None:
    if after in NEXT[before]:
        assert TestRun.objects.move([], before, after, now=NOW) == []
    else:
        with pytest.raises(IllegalMove, match=f"from {before} to {after}"):
            TestRun.objects.move([], before, after, now=NOW)


def test_a_move_that_a_constraint_refuses_leaves_neither_event_nor_count() -> None:
    ids = planned(2)

    with pytest.raises(IntegrityError), transaction.atomic():
        TestRun.objects.move(ids, RunState.PLANNED, RunState.JUDGED, now=NOW)  # without a verdict

    assert set(TestRun.objects.values_list("state", flat=True)) == {"planned"}
    assert not TestRunEvent.objects.filter(after="judged").exists()
    assert counters(Job.objects.get()) == {(1, "planned"): 2}


def test_counters_are_kept_by_job_and_stage() -> None:
    site = make_site()
    nodes, jobs = make_nodes(site, 2), [make_job(site), make_job(site)]
    ids = [
        *plan_runs(jobs[0], nodes),
        *plan_runs(jobs[0], nodes, stage=2),
        *plan_runs(jobs[1], nodes),
    ]

    TestRun.objects.move(ids[1:5], RunState.PLANNED, RunState.JUDGED, now=NOW, verdict="skipped")

    assert counters(jobs[0]) == {(1, "planned"): 1, (1, "skipped"): 1, (2, "skipped"): 2}
    assert [counters(job) for job in jobs] == [recount(job) for job in jobs]


def test_an_unknown_id_is_no_error_and_moves_nothing() -> None:
    assert TestRun.objects.move([uuid.uuid4()], RunState.RUNNING, RunState.FINISHED, now=NOW) == []


def test_what_a_node_wrote_cannot_break_a_move() -> None:
    [run_id] = planned(1)

    TestRun.objects.move(
        [run_id],
        RunState.PLANNED,
        RunState.DISPATCHED,
        now=NOW,
        attempt_number=1,
        note="torn \0 '; -- %s " + "x" * 3000,
    )

    note = TestRunEvent.objects.get(after="dispatched").note
    assert note.startswith("torn \ufffd '; -- %s xxx")
    assert len(note) == 2000


def test_a_claimed_run_is_left_alone_until_its_time_is_over() -> None:
    ids = brought_to(RunState.FINISHED, 2)
    first = TestRun.objects.claim(ids[:1], RunState.FINISHED, for_=timedelta(minutes=5), now=NOW)

    second = TestRun.objects.claim(ids, RunState.FINISHED, for_=timedelta(minutes=5), now=LATER)
    third = TestRun.objects.claim(
        ids, RunState.FINISHED, for_=timedelta(minutes=5), now=NOW + timedelta(minutes=5)
    )

    assert [run.id for run in first] == ids[:1]
    assert [run.id for run in second] == ids[1:]
    assert [run.id for run in third] == ids[:1]


def test_only_runs_in_the_named_state_are_claimed() -> None:
    ids = brought_to(RunState.RUNNING)

    assert TestRun.objects.claim(ids, RunState.FINISHED, for_=timedelta(1), now=NOW) == []


def test_a_move_ends_a_claim() -> None:
    ids = brought_to(RunState.RUNNING)
    TestRun.objects.claim(ids, RunState.RUNNING, for_=timedelta(minutes=5), now=NOW)

    TestRun.objects.move(ids, RunState.RUNNING, RunState.FINISHED, now=NOW)

    assert not TestRun.objects.exclude(carried_until=None).exists()


def test_a_claim_costs_two_queries_and_a_move_three_more_than_its_transaction(
    django_assert_max_num_queries: object,
) -> None:
    ids = brought_to(RunState.RUNNING, 50)

    with django_assert_max_num_queries(6):  # type: ignore[operator]
        TestRun.objects.move(ids, RunState.RUNNING, RunState.FINISHED, now=NOW)
    with django_assert_max_num_queries(4):  # type: ignore[operator]
        claimed = TestRun.objects.claim(ids, RunState.FINISHED, for_=timedelta(1), now=NOW)
        assert {run.job.site_id for run in claimed} == {run.site.pk for run in claimed}
