"""Counts come from the counters and add up to the nodes asked for."""

import pytest
from pytest_django import DjangoAssertNumQueries

from burnin.models.job import JobState
from burnin.selectors.job_counts import counts_of_jobs, node_counts, stage_counts
from burnin.states import RunState, Verdict
from burnin.tests.factories import a_site, bring_to, judge, nodes_of
from burnin.tests.jobs import planned_job
from runner.contract.slugs import Slugs

pytestmark = pytest.mark.django_db
HELLO, MEMORY = Slugs.HELLO_WORLD, Slugs.MEMORY_STRESS


def _shown(counts: object) -> dict[str, int]:
    return {state: count for state, count in dict(counts).items() if count}  # type: ignore[call-overload]


def test_nodes_are_counted_once_each_by_the_worst_that_was_found() -> None:
    job, runs = planned_job(nodes_of(a_site(), 6))
    judge([runs["n1", HELLO], runs["n1", MEMORY]])
    judge([runs["n2", HELLO]], Verdict.FAILED)
    judge([runs["n3", HELLO]], Verdict.ERRORED)
    bring_to([runs["n4", HELLO]], RunState.RUNNING)
    judge([runs["n5", HELLO]])

    counts = node_counts(job)

    assert _shown(counts) == {"passed": 1, "failed": 1, "errored": 1, "running": 1, "waiting": 2}
    assert sum(counts.values()) == job.node_count


def test_a_failed_node_that_still_runs_counts_as_failed_alone() -> None:
    job, runs = planned_job(nodes_of(a_site(), 1), HELLO, MEMORY)
    job.stage = 2
    judge([runs["n1", HELLO]], Verdict.FAILED)
    bring_to([runs["n1", MEMORY]], RunState.RUNNING)

    assert _shown(node_counts(job)) == {"failed": 1}


def test_every_stage_lists_all_of_its_runs() -> None:
    job, runs = planned_job(nodes_of(a_site(), 3))
    judge([runs["n1", HELLO], runs["n2", HELLO], runs["n3", HELLO]])
    judge([runs["n1", MEMORY]], Verdict.FAILED)
    bring_to([runs["n2", MEMORY]], RunState.SUBMITTED)

    first, second = stage_counts(job)

    assert (first.slugs, first.done, first.total, first.state) == ((HELLO,), 3, 3, "passed")
    assert _shown(second.counts) == {"failed": 1, "waiting": 2}
    assert (second.done, second.total, second.state) == (1, 3, "untested")


def test_a_stage_that_is_done_looks_like_its_worst_verdict() -> None:
    job, runs = planned_job(nodes_of(a_site(), 2), HELLO)
    judge([runs["n1", HELLO]], Verdict.FAILED)
    judge([runs["n2", HELLO]], Verdict.ERRORED)
    job.state = JobState.DONE

    assert [stage.state for stage in stage_counts(job)] == ["failed"]


def test_many_jobs_cost_one_query(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    nodes = nodes_of(a_site(), 2)
    jobs = [planned_job(nodes)[0] for _ in range(5)]

    with django_assert_num_queries(1):
        counts = counts_of_jobs([job.pk for job in jobs])

    assert [_shown(counts[job.pk]) for job in jobs] == [{"waiting": 4}] * 5
