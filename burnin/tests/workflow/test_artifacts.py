"""Artifacts that come late, from somebody else, too large, torn, or never."""

import hashlib

import pytest

from burnin.models import Artifact, Attempt, TestResult, TestRun
from burnin.models.audit import Actor
from burnin.satellite.messages import RelayOrder
from burnin.states import Cause, RunState, Verdict
from burnin.storage.store import incoming_key
from burnin.tests.workflow.simulated import ONCE, Hub, make_hub
from burnin.tests.workflow.workloads import hello
from burnin.workflow.cancel import cancel_job
from burnin.workflow.gather import gather
from burnin.workflow.scratch import scratch
from runner.contract import artifacts as contract

pytestmark = pytest.mark.django_db


def after_the_job(hub: Hub) -> TestRun:
    """Let the job end while none of its files can be uploaded."""
    hub.site.node_uploads = False
    hub.plan(ONCE)
    hub.advance(30)
    return TestRun.objects.get()


def judged(hub: Hub, seconds: float = 30) -> TestRun:
    hub.advance(seconds)
    run = TestRun.objects.get()
    assert run.state == RunState.JUDGED
    return run


def overwrite(hub: Hub, name: str, content: bytes) -> None:
    """Put something else where the node writes, before it is collected."""
    hub.work()
    hub.is_on = False
    hub.advance(20)
    hub.is_on = True
    hub.store.objects[incoming_key("east", Attempt.objects.get().token, name)] = content


def test_uploads_that_are_a_little_late_are_waited_for() -> None:
    hub = make_hub("n1")
    run = after_the_job(hub)
    assert (run.state, run.waits_because) == (RunState.FINISHED, "its artifacts are on their way")

    hub.site.node_uploads = True

    assert judged(hub).verdict == Verdict.PASSED
    assert not hub.queue.count(RelayOrder)


def test_what_the_node_could_not_upload_is_relayed_by_the_satellite() -> None:
    hub = make_hub("n1")
    after_the_job(hub)

    run = judged(hub, 150)

    assert run.verdict == Verdict.PASSED
    assert hub.queue.count(RelayOrder) == 1


def test_only_what_is_missing_is_relayed() -> None:
    hub = make_hub("n1")
    after_the_job(hub)
    token = Attempt.objects.get().token
    for name in (contract.METADATA, contract.STDOUT):
        key = incoming_key("east", token, name)
        hub.store.objects[key] = hub.site.cluster.files[token, name]

    run = judged(hub, 150)

    (order,) = [each for _, _, each in hub.queue.sent if isinstance(each, RelayOrder)]
    assert set(order.uploads) == {contract.STARTED, contract.STDERR, contract.CUSTOM}
    assert run.verdict == Verdict.PASSED


def test_artifacts_that_are_nowhere_make_an_error() -> None:
    hub = make_hub("n1")
    after_the_job(hub)
    hub.site.cluster.files.clear()

    run = judged(hub, 150)

    assert (run.verdict, run.cause) == (Verdict.ERRORED, Cause.INFRASTRUCTURE)
    assert "metadata.json" in run.reason


def test_a_site_that_does_not_answer_may_still_hold_them() -> None:
    hub = make_hub("n1")
    after_the_job(hub)
    hub.site.is_on = False

    hub.advance(3600, tick_s=60)
    run = TestRun.objects.get()
    hub.site.is_on = True

    assert run.state == RunState.FINISHED
    assert run.waits_because == "its artifacts are still at the site, which does not answer"
    assert judged(hub, 120).verdict == Verdict.PASSED


def test_a_cancelled_run_is_not_held_up_by_artifacts() -> None:
    hub = make_hub("n1")
    run = after_the_job(hub)

    cancel_job(run.job, by=Actor("alice"), reason="enough", queue=hub.queue, now=hub.now)

    assert judged(hub).verdict == Verdict.SKIPPED


def test_a_store_that_is_away_delays_and_decides_nothing() -> None:
    hub = make_hub("n1")
    hub.plan(ONCE)
    hub.advance(10)
    hub.store.is_reachable = False
    hub.site.node_uploads = False

    hub.advance(900, tick_s=30)
    run = TestRun.objects.get()
    hub.store.is_reachable = hub.site.node_uploads = True

    assert run.state == RunState.FINISHED
    assert run.waits_because.startswith("the artifact store cannot be used: ")
    assert judged(hub, 60).verdict == Verdict.PASSED


def test_an_artifact_larger_than_its_cap_is_errored_and_not_fetched() -> None:
    hub = make_hub("n1")
    hub.plan(ONCE)
    overwrite(hub, contract.STDERR, bytes(contract.MAX_BYTES[contract.STDERR] + 1))

    run = judged(hub)

    assert (run.verdict, run.cause) == (Verdict.ERRORED, Cause.INFRASTRUCTURE)
    assert run.reason == "stderr.txt has 4194305 bytes, more than the 4194304 allowed"
    assert not Artifact.objects.exists()


def test_artifacts_of_another_run_are_errored() -> None:
    hub = make_hub("n1")
    hub.plan(ONCE)
    other = b'{"schema": 1}'
    overwrite(hub, contract.METADATA, other)

    run = judged(hub)

    assert run.verdict == Verdict.ERRORED
    assert run.reason.startswith("metadata.json cannot be read")


def test_the_metadata_of_another_attempt_is_errored() -> None:
    hub = make_hub("n1")
    hub.site.workload = lambda order: hello(order, attempt=2, tools={"fio": "3.33"})
    hub.plan(ONCE)

    run = judged(hub, 60)

    assert run.verdict == Verdict.ERRORED
    assert run.reason.startswith(f"the artifacts are of {run.pk}:2, not of {run.pk}:1")
    assert TestResult.objects.get().tools == {}


def test_an_artifact_changed_after_the_runners_last_word_is_errored() -> None:
    hub = make_hub("n1")
    hub.plan(ONCE)
    overwrite(hub, contract.STDOUT, b"HELLO\n")

    run = judged(hub)

    assert run.verdict == Verdict.ERRORED
    assert run.reason == "stdout.txt has another sha256 than metadata.json says"


def test_a_second_courier_overwrites_nothing_that_was_judged() -> None:
    hub = make_hub("n1")
    hub.plan()
    run = judged(hub)
    kept = {each.key: each.sha256 for each in Artifact.objects.all()}
    token = Attempt.objects.get(run=run).token
    hub.store.objects[incoming_key("east", token, contract.STDOUT)] = b"changed by the node"

    with scratch() as room:
        gather(hub.store, "east", token, room)

    for key, sha256 in kept.items():
        assert hashlib.sha256(hub.store.objects[key]).hexdigest() == sha256


@pytest.mark.parametrize(
    ("absent", "copied"), [(contract.METADATA, set()), (contract.STDOUT, {contract.METADATA})]
)
def test_of_what_is_still_on_its_way_at_most_the_metadata_is_copied(
    absent: str, copied: set[str]
) -> None:
    hub = make_hub("n1")
    hub.plan()
    hub.work()
    hub.is_on = False
    hub.advance(20)
    del hub.store.objects[incoming_key("east", Attempt.objects.get().token, absent)]

    hub.collect()

    kept = {key.rpartition("/")[2] for key in hub.store.objects if key.startswith("artifacts/")}
    assert kept == copied
    assert TestRun.objects.get().waits_because == "its artifacts are on their way"
