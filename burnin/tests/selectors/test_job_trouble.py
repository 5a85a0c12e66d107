"""Failures of one cause are one row, and stand with whoever owns them."""

import pytest
from pytest_django import DjangoAssertNumQueries

from burnin.models import TestRun
from burnin.selectors import job_trouble
from burnin.selectors.job_trouble import trouble_of
from burnin.selectors.job_waiting import waiting_of
from burnin.states import Cause, RunState, Verdict
from burnin.tests.factories import NOW, a_site, bring_to, judge, nodes_of
from burnin.tests.jobs import planned_job
from runner.contract.slugs import Slugs

pytestmark = pytest.mark.django_db
HELLO = Slugs.HELLO_WORLD


def test_failures_that_differ_in_numbers_and_places_are_one_row() -> None:
    job, runs = planned_job(nodes_of(a_site(), 4), HELLO)
    for name, value in (("n1", "4.1"), ("n2", "3.9"), ("n3", "5")):
        reason = f"Slowest drive {value} GB/s, needs at least 6 (nvme{name[1]}n1)"
        judge([runs[name, HELLO]], Verdict.FAILED, cause=Cause.HARDWARE, reason=reason)
    judge([runs["n4", HELLO]], Verdict.FAILED, cause=Cause.HARDWARE, reason="GPU 3: memory FAIL")

    many, one = trouble_of(job).hardware

    assert many.nodes == ["n1", "n2", "n3"]
    assert one.nodes == ["n4"]


@pytest.mark.parametrize(
    ("verdict", "cause", "owner"),
    [
        (Verdict.FAILED, Cause.HARDWARE, "hardware"),
        (Verdict.ERRORED, Cause.TEST, "test"),
        (Verdict.ERRORED, Cause.INFRASTRUCTURE, "infrastructure"),
        (Verdict.INCONCLUSIVE, Cause.HARDWARE, "infrastructure"),
    ],
)
def test_each_cause_has_its_owner(verdict: Verdict, cause: Cause, owner: str) -> None:
    job, runs = planned_job(nodes_of(a_site(), 1), HELLO)
    judge([runs["n1", HELLO]], verdict, cause=cause)

    trouble = trouble_of(job)

    found = {name for name in ("hardware", "test", "infrastructure") if getattr(trouble, name)}
    assert found == {owner}


def test_only_the_worst_nodes_are_read_and_that_is_said(
    monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    job, runs = planned_job(nodes_of(a_site(), 3), HELLO)
    judge(list(runs.values()), Verdict.FAILED)
    monkeypatch.setattr(job_trouble, "NODES_LOOKED_AT", 2)

    with django_assert_num_queries(2):
        trouble = trouble_of(job)

    assert not trouble.is_whole
    assert len(trouble.hardware[0].nodes) == 2


def test_waiting_runs_are_grouped_by_reason_with_the_oldest_wait() -> None:
    job, runs = planned_job(nodes_of(a_site(), 4), HELLO)
    queued = [runs[name, HELLO] for name in ("n1", "n2", "n3")]
    bring_to(queued, RunState.SUBMITTED)
    TestRun.objects.filter(pk=queued[0].pk).update(waits_because="n1 is down")
    TestRun.objects.filter(pk=queued[1].pk).update(waits_because="n2 is down")

    first, *rest = waiting_of(job)

    assert (first.reason, first.count, first.since) == ("n1 is down", 2, NOW)
    assert {each.reason.partition(",")[0].partition(":")[0] for each in rest} == {
        "in Slurm's queue",
        "not sent yet",
    }


def test_runs_of_later_stages_do_not_wait_yet() -> None:
    job, _ = planned_job(nodes_of(a_site(), 2))

    assert sum(each.count for each in waiting_of(job)) == 2
