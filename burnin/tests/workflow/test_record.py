"""Facts: what is new is applied, what is known is acknowledged, what is wrong is refused."""

import uuid
from typing import Any

import pytest

from burnin.models import Attempt, TestRun, TestRunEvent
from burnin.satellite.messages import (
    Envelope,
    Fact,
    FactAnswer,
    FactBatch,
    Finding,
    Heartbeat,
    JobGone,
    JobSeen,
    LogPart,
    NodeSeen,
    NodesSeen,
    Refusal,
    SiteChecked,
    SubmitAnswered,
)
from burnin.states import RunState
from burnin.tests.models.world import counters, recount
from burnin.tests.workflow.simulated import Hub, make_hub
from burnin.workflow import logs, site_check
from burnin.workflow.bells import Bell
from burnin.workflow.record import record_facts
from fleet.models import Node, Site

pytestmark = pytest.mark.django_db


class Rings:
    def __init__(self) -> None:
        self.rung: list[tuple[Bell, int]] = []

    def ring(self, bell: Bell, site_id: int) -> None:
        self.rung.append((bell, site_id))


def dispatched(*names: str) -> Hub:
    """A hub whose planned runs wait for the satellite's first word."""
    hub = make_hub(*names)
    hub.plan()
    hub.work()
    return hub


def post(hub: Hub, *facts: Fact, site: Site | None = None) -> FactAnswer:
    envelopes = tuple(Envelope(id=str(number), fact=fact) for number, fact in enumerate(facts))
    return record_facts(
        site or hub.site_row, FactBatch(facts=envelopes), now=hub.now, bells=Rings()
    )


def about(run: TestRun, **values: Any) -> dict[str, Any]:
    return {"run_id": str(run.pk), "attempt": 1, **values}


def accepted(run: TestRun, job_id: str = "7") -> SubmitAnswered:
    return SubmitAnswered(**about(run, answer="accepted", job_id=job_id))


def seen(run: TestRun, state: str, job_id: str = "7", **more: Any) -> JobSeen:
    return JobSeen(**about(run, job_id=job_id, state=state, source="squeue", **more))


def test_an_accepted_job_is_adopted() -> None:
    hub = dispatched("n1")
    run = TestRun.objects.get()

    answer = post(hub, accepted(run))

    run.refresh_from_db()
    attempt = run.attempts.get()
    assert answer == FactAnswer(acknowledged=("0",))
    assert (run.state, attempt.slurm_job_id) == (RunState.SUBMITTED, "7")
    assert attempt.submission == Attempt.Submission.ACCEPTED


def test_a_job_is_adopted_from_the_first_sight_of_it_too() -> None:
    hub = dispatched("n1")
    run = TestRun.objects.get()

    post(hub, seen(run, "RUNNING"))

    run.refresh_from_db()
    assert run.state == RunState.RUNNING
    moves = list(run.events.order_by("id").values_list("before", "after"))
    assert moves[-2:] == [("dispatched", "submitted"), ("submitted", "running")]


def test_one_batch_may_tell_a_whole_life() -> None:
    hub = dispatched("n1", "n2")
    runs = list(TestRun.objects.all())
    facts = [
        fact
        for number, run in enumerate(runs)
        for fact in (
            accepted(run, str(number)),
            seen(run, "RUNNING", str(number)),
            seen(run, "COMPLETED", str(number)),
        )
    ]

    post(hub, *facts)

    job = runs[0].job
    assert counters(job) == recount(job) == {(1, "finished"): 2}


def test_a_replay_is_acknowledged_and_changes_nothing() -> None:
    hub = dispatched("n1")
    run = TestRun.objects.get()
    facts = accepted(run), seen(run, "RUNNING"), seen(run, "COMPLETED")
    post(hub, *facts)
    before = TestRunEvent.objects.count(), counters(run.job)

    answer = post(hub, *facts)

    assert answer.acknowledged == ("0", "1", "2")
    assert (TestRunEvent.objects.count(), counters(run.job)) == before


def test_what_comes_late_takes_nothing_back() -> None:
    hub = dispatched("n1")
    run = TestRun.objects.get()
    post(hub, seen(run, "COMPLETED", exit_code="0:0"))

    answer = post(hub, seen(run, "RUNNING"), accepted(run), seen(run, "PENDING"))

    run.refresh_from_db()
    assert not answer.refused
    assert run.state == RunState.FINISHED
    assert run.attempts.get().slurm_state == "COMPLETED"


def test_a_fact_about_another_sites_run_is_refused() -> None:
    hub = dispatched("n1")
    west = make_hub("w1", name="west")
    run = TestRun.objects.get()

    answer = post(hub, accepted(run), site=west.site_row)

    words = f"this site has no run {run.pk} with an attempt 1"
    assert answer == FactAnswer(refused=(Refusal(id="0", words=words),))
    run.refresh_from_db()
    assert run.state == RunState.DISPATCHED


def test_a_fact_about_a_wrong_attempt_is_refused() -> None:
    hub = dispatched("n1")
    run = TestRun.objects.get()

    answer = post(hub, SubmitAnswered(**{**about(run), "attempt": 2}, answer="refused"))

    assert "with an attempt 2" in answer.refused[0].words


def test_a_fact_about_a_run_that_never_was_is_refused() -> None:
    hub = dispatched("n1")
    unknown = TestRun(pk=uuid.uuid4())

    assert post(hub, accepted(unknown)).refused


def test_another_job_id_for_one_attempt_is_refused() -> None:
    hub = dispatched("n1")
    run = TestRun.objects.get()
    post(hub, accepted(run, "7"))

    answer = post(hub, seen(run, "RUNNING", "9"))

    assert answer.refused[0].words == f"attempt {run.pk}:1 is Slurm job 7, not 9"


def test_one_bad_fact_does_not_spoil_the_others() -> None:
    hub = dispatched("n1", "n2")
    first, second = TestRun.objects.all()
    bad = SubmitAnswered(**about(first, answer="accepted", job_id=None))

    answer = post(hub, bad, accepted(second))

    assert answer.acknowledged == ("1",)
    assert answer.refused[0].words.endswith("was accepted, but without a job id")


def test_a_job_that_runs_cannot_have_been_refused() -> None:
    hub = dispatched("n1")
    run = TestRun.objects.get()
    post(hub, seen(run, "RUNNING"))

    answer = post(hub, SubmitAnswered(**about(run, answer="refused", words="no")))

    assert "it cannot have been refused" in answer.refused[0].words
    assert TestRun.objects.get().state == RunState.RUNNING


def test_what_the_site_gives_up_is_errored() -> None:
    hub = dispatched("n1")
    run = TestRun.objects.get()

    post(hub, SubmitAnswered(**about(run, answer="given_up", words="it is not known whether")))

    run.refresh_from_db()
    assert (run.verdict, run.cause) == ("errored", "infrastructure")
    assert run.reason == "it is not known whether"


def test_a_doubt_that_is_settled_in_the_same_batch_holds_up_nothing() -> None:
    hub = dispatched("n1")
    run = TestRun.objects.get()
    doubt = SubmitAnswered(**about(run, answer="unknown", words="Socket timed out"))

    post(hub, doubt, seen(run, "COMPLETED"))

    run.refresh_from_db()
    assert (run.state, run.carried_until, run.waits_because) == (RunState.FINISHED, None, "")


def test_a_lost_job_is_finished_so_that_its_artifacts_decide() -> None:
    hub = dispatched("n1")
    run = TestRun.objects.get()
    post(hub, accepted(run))

    post(hub, JobGone(**about(run, job_id="7")))

    run.refresh_from_db()
    assert run.state == RunState.FINISHED


def test_a_pending_job_says_why_it_waits() -> None:
    hub = dispatched("n1")
    run = TestRun.objects.get()

    post(hub, seen(run, "PENDING", reason="Resources"))

    run.refresh_from_db()
    assert run.waits_because == "the job waits in the queue: its nodes are busy"


def test_what_a_node_or_slurm_wrote_is_kept_as_a_database_can_hold_it() -> None:
    hub = dispatched("n1")
    run = TestRun.objects.get()

    answer = post(hub, seen(run, "PENDING", reason="x\0" + "y" * 3000, node_list="n" * 4000))

    assert not answer.refused
    assert len(run.attempts.get().slurm_reason) == 1000


def test_finished_runs_ring_for_their_collector() -> None:
    hub = dispatched("n1")
    run = TestRun.objects.get()
    rings = Rings()
    batch = FactBatch(facts=(Envelope(id="1", fact=seen(run, "COMPLETED")),))

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("django.db.transaction.on_commit", lambda call: call())
        record_facts(hub.site_row, batch, now=hub.now, bells=rings)

    assert rings.rung == [(Bell.COLLECT, hub.site_row.pk)]


def test_a_heartbeat_counts_by_our_clock() -> None:
    hub = make_hub()

    post(hub, Heartbeat(at=hub.now.replace(year=1999), version="1", slurmctld="does not answer"))

    site = Site.objects.get()
    assert site.heartbeat_at == hub.now
    assert site.reach["slurmctld"] == "does not answer"


def test_nodes_are_noted_and_missing_ones_are_not_used() -> None:
    hub = make_hub("n1", "n2")
    drained = NodeSeen(
        name="n1",
        state="IDLE+DRAIN",
        reason="fan",
        is_usable=False,
        cpu_count=4,
        memory_mib=2000,
    )
    unknown = drained.model_copy(update={"name": "n9"})

    post(hub, NodesSeen(nodes=(drained, unknown)))

    n1, n2 = Node.objects.order_by("name")
    assert (n1.slurm_state, n1.slurm_reason, n1.is_usable) == ("IDLE+DRAIN", "fan", False)
    assert (n2.slurm_reason, n2.is_usable) == ("Slurm does not list it any more", False)


def test_a_log_is_kept_by_byte_offset() -> None:
    hub = dispatched("n1")
    run = TestRun.objects.get()
    token = run.attempts.get().token

    for offset, content in ((5, b"d29ybGQ="), (0, b"aGVsbG8=")):
        part = {"name": "stdout.txt", "offset": offset, "content": content}
        post(hub, LogPart(**about(run, **part)))

    assert logs.read(token, "stdout.txt", offset=3, limit=100) == b"loworld"


@pytest.mark.parametrize(
    ("name", "offset", "words"),
    [("../../etc/passwd", 0, "is no log"), ("stdout.txt", 1 << 40, "would grow beyond")],
)
def test_a_log_part_stays_in_its_place_and_size(name: str, offset: int, words: str) -> None:
    hub = dispatched("n1")
    run = TestRun.objects.get()

    answer = post(hub, LogPart(**about(run, name=name, offset=offset, content=b"aGVsbG8=")))

    assert words in answer.refused[0].words


def checked(request_id: str, *, passed: bool = True) -> SiteChecked:
    return SiteChecked(
        request_id=request_id, findings=(Finding(probe="work-dir", passed=passed, found="shared"),)
    )


def test_a_good_check_opens_the_site_for_the_configuration_it_was_asked_for() -> None:
    hub = make_hub()
    Site.objects.update(checked_at=None, checked_configuration="")
    site = Site.objects.get()
    request_id = site_check.ask(site, store=hub.store, queue=hub.queue, now=hub.now)

    post(hub, checked(request_id))

    site.refresh_from_db()
    assert site.is_checked
    assert site.capabilities["findings"][0]["found"] == "shared"


def test_a_check_of_what_was_changed_meanwhile_opens_nothing() -> None:
    hub = make_hub()
    site = Site.objects.get()
    request_id = site_check.ask(site, store=hub.store, queue=hub.queue, now=hub.now)
    Site.objects.update(work_dir="/elsewhere")

    post(hub, checked(request_id))

    assert not Site.objects.get().is_checked


def test_a_bad_check_closes_the_site() -> None:
    hub = make_hub()
    request_id = site_check.ask(Site.objects.get(), store=hub.store, queue=hub.queue, now=hub.now)

    post(hub, checked(request_id, passed=False))

    assert not Site.objects.get().is_checked


def test_a_check_that_nobody_asked_for_is_refused() -> None:
    hub = make_hub()
    Site.objects.update(checked_at=None)

    answer = post(hub, checked(str(uuid.uuid4())))

    assert answer.refused
    assert not Site.objects.get().is_checked
