"""Whoever starts, ends or repeats a job is kept, with the reason, in one transaction with it."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User

from burnin.models import AuditEntry, Job, TestRun
from burnin.models.audit import Action, Actor, AuditIsKept
from burnin.satellite.messages import JobOrder
from burnin.slurm.fake import Workload
from burnin.tests.models.world import counters
from burnin.tests.workflow.simulated import Hub, make_hub
from burnin.tests.workflow.workloads import failing, hello
from burnin.workflow.bells import Silence
from burnin.workflow.cancel import CancelRefused, cancel_job, cancel_runs
from burnin.workflow.plan import PlanRefused
from burnin.workflow.rerun import rerun_errored, rerun_failed

pytestmark = pytest.mark.django_db

ALICE = Actor("alice", token="ci")


def rerun(again: Callable[..., Job], hub: Hub, job: Job, reason: str = "reseated") -> Job:
    job.refresh_from_db()
    return again(job, by=ALICE, reason=reason, store=hub.store, bells=Silence(), now=hub.now)


def unmeasured(order: JobOrder) -> Workload:
    return hello(order, outcome="cannot_run", reason="there is no tool")


def one_bad_one_unmeasured(hub: Hub) -> Job:
    """A job of which n1 fails and n2 cannot be measured."""
    hub.site.workload = lambda order: (failing if '"n1"' in order.context else unmeasured)(order)
    job = hub.plan()
    hub.advance(90)
    return job


def test_a_started_job_leaves_an_entry() -> None:
    hub = make_hub()
    ann = User.objects.create_user("ann")

    job = hub.plan(by=Actor.of(ann), reason="RMA-7 came back")

    entry = AuditEntry.objects.get()
    assert (entry.user, entry.user_name, entry.token) == (ann, "ann", "")
    assert (entry.action, entry.object_kind, entry.object_id) == ("start job", "job", str(job.pk))
    assert (entry.site, entry.reason, entry.at) == (hub.site_row, "RMA-7 came back", hub.now)


def test_a_cancelled_job_leaves_an_entry_with_the_token_that_asked() -> None:
    hub = make_hub()
    job = hub.plan()

    cancel_job(job, by=ALICE, reason=" wrong nodes ", queue=hub.queue, now=hub.now)

    entry = AuditEntry.objects.get(action=Action.CANCEL_JOB)
    assert (entry.user_name, entry.token, entry.reason) == ("alice", "ci", "wrong nodes")
    assert "cancelled by alice (token ci): wrong nodes" in TestRun.objects.first().reason  # type: ignore[union-attr]


def test_each_cancelled_run_leaves_an_entry() -> None:
    hub = make_hub("n1", "n2")
    hub.plan()
    run = TestRun.objects.order_by("created_at").first()
    assert run is not None

    cancel_runs(hub.site_row, [run.pk], by=ALICE, reason="it smells", queue=hub.queue, now=hub.now)

    assert AuditEntry.objects.get(action=Action.CANCEL_RUNS).object_id == str(run.pk)


def test_what_is_refused_leaves_no_entry() -> None:
    hub = make_hub()
    job = hub.plan()
    AuditEntry.objects.all().delete()

    with pytest.raises(CancelRefused):
        cancel_job(job, by=ALICE, reason=" ", queue=hub.queue, now=hub.now)
    with pytest.raises(PlanRefused, match="say why"):
        rerun(rerun_failed, hub, job, reason=" ")

    assert not AuditEntry.objects.exists()


@pytest.mark.parametrize(
    ("again", "action", "node"),
    [(rerun_failed, Action.RERUN_FAILED, "n1"), (rerun_errored, Action.RERUN_ERRORED, "n2")],
)
def test_failed_and_errored_nodes_are_repeated_apart(
    again: Callable[..., Job], action: str, node: str
) -> None:
    hub = make_hub("n1", "n2")
    job = one_bad_one_unmeasured(hub)
    assert counters(job) == {(1, "failed"): 1, (1, "errored"): 1}

    repeated = rerun(again, hub, job)

    assert [member.node.name for member in repeated.members.all()] == [node]
    entry = AuditEntry.objects.get(action=action)
    assert (entry.object_id, entry.reason) == (str(job.pk), "reseated")


def test_an_entry_is_never_changed() -> None:
    make_hub().plan()
    entry = AuditEntry.objects.get()

    with pytest.raises(AuditIsKept):
        entry.save()
