"""What a job did not pass is asked again, in a job of its own."""

from dataclasses import replace

import pytest

from burnin.models import AuditEntry, Job, TestRun
from burnin.models.audit import Actor
from burnin.models.job import JobVerdict
from burnin.tests.factories import a_user
from burnin.tests.models.world import counters
from burnin.tests.workflow.simulated import Hub, make_hub
from burnin.tests.workflow.workloads import failing, hello
from burnin.workflow import asked_before
from burnin.workflow.bells import Silence
from burnin.workflow.cancel import cancel_job
from burnin.workflow.plan import PlanRefused, StepRequest
from burnin.workflow.rerun import rerun_failed
from fleet.models import Node
from runner.contract.slugs import Slugs

pytestmark = pytest.mark.django_db

FIRST = StepRequest(Slugs.HELLO_WORLD, timeout_minutes=5)
SECOND = replace(FIRST, stage=2)
ALICE = Actor("alice")


def rerun(hub: Hub, job: Job, by: Actor = ALICE, key: str = "") -> Job:
    job.refresh_from_db()
    return rerun_failed(
        job,
        by=by,
        reason="after the repair",
        store=hub.store,
        bells=Silence(),
        now=hub.now,
        idempotency_key=key,
    )


def failed_job(hub: Hub) -> Job:
    """A job of which n2 failed the first stage and was skipped in the second."""
    hub.site.workload = lambda order: (failing if '"n2"' in order.context else hello)(order)
    job = hub.plan(FIRST, SECOND)
    hub.advance(90)
    hub.site.workload = hello
    return job


def test_the_failed_node_runs_again_and_the_others_do_not() -> None:
    hub = make_hub("n1", "n2")
    job = failed_job(hub)

    again = rerun(hub, job)
    hub.advance(90)

    again.refresh_from_db()
    assert again.node_count == 1
    assert counters(again) == {(1, "passed"): 1, (2, "passed"): 1}
    assert again.verdict == JobVerdict.PASSED


def test_the_new_runs_say_which_they_repeat_and_the_old_verdict_stands() -> None:
    hub = make_hub("n1", "n2")
    job = failed_job(hub)

    again = rerun(hub, job)

    repeated = TestRun.objects.filter(job=again).values_list("rerun_of__job", flat=True)
    assert list(repeated) == [job.pk, job.pk]
    assert Job.objects.get(pk=job.pk).verdict == JobVerdict.FAILED


def test_params_and_limits_stay_as_the_first_job_froze_them() -> None:
    hub = make_hub("n1", "n2")
    job = failed_job(hub)

    assert rerun(hub, job).steps == job.steps


def test_a_node_that_is_excluded_meanwhile_is_listed_as_skipped() -> None:
    hub = make_hub("n1", "n2")
    job = failed_job(hub)
    Node.objects.filter(name="n2").update(excluded_because="sent back")

    assert counters(rerun(hub, job)) == {(1, "skipped"): 1, (2, "skipped"): 1}


def test_a_job_that_passed_has_nothing_to_repeat() -> None:
    hub = make_hub("n1")
    job = hub.plan()
    hub.advance(60)

    with pytest.raises(PlanRefused, match="there is nothing to repeat"):
        rerun(hub, job)


def test_what_was_cancelled_is_not_repeated() -> None:
    hub = make_hub("n1")
    job = hub.plan()
    cancel_job(job, by=Actor("alice"), reason="no", queue=hub.queue, now=hub.now)

    with pytest.raises(PlanRefused, match="there is nothing to repeat"):
        rerun(hub, job)


def test_a_job_that_still_runs_is_not_repeated() -> None:
    hub = make_hub("n1")
    job = hub.plan()

    with pytest.raises(PlanRefused, match="is not done"):
        rerun(hub, job)


def test_a_key_makes_one_job_however_often_it_is_sent() -> None:
    hub, bob = make_hub("n1", "n2"), Actor.of(a_user(name="bob"))
    job = failed_job(hub)

    again = rerun(hub, job, bob, "k1")
    hub.advance(90)

    assert rerun(hub, job, bob, "k1") == again
    assert rerun(hub, job, bob, "k2") != again
    assert Job.objects.count() == 3
    assert AuditEntry.objects.filter(action="re-run failed").count() == 2


def test_the_key_of_a_job_that_repeats_something_else_is_refused() -> None:
    hub, bob = make_hub("n1", "n2"), Actor.of(a_user(name="bob"))
    first, started = failed_job(hub), hub.plan(by=bob, idempotency_key="k1")
    hub.advance(90)

    with pytest.raises(PlanRefused, match=f"'k1' made job {started.pk}, which asks for something"):
        rerun(hub, first, bob, "k1")
    again = rerun(hub, first, bob, "k2")
    with pytest.raises(PlanRefused, match=f"'k2' made job {again.pk}, which asks for something"):
        rerun(hub, started, bob, "k2")


def test_a_key_that_another_request_takes_meanwhile_answers_with_its_job(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hub, bob = make_hub("n1", "n2"), Actor.of(a_user(name="bob"))
    job = failed_job(hub)
    again = rerun(hub, job, bob, "k1")
    answers = iter([None, again])
    monkeypatch.setattr(asked_before, "job_of", lambda key, by: next(answers))

    assert rerun(hub, job, bob, "k1") == again
    assert Job.objects.count() == 2
