"""A log is read while it grows and after it was collected, by byte offset."""

from datetime import UTC, datetime, timedelta

import pytest

from burnin.models import TestRun
from burnin.satellite.messages import TailOrder
from burnin.slurm.fake import FakeCluster
from burnin.states import RunState
from burnin.storage.store import StoreUnreachable
from burnin.tests.workflow.simulated import ONCE, Hub, make_hub
from burnin.tests.workflow.workloads import hello
from burnin.workflow import logs
from burnin.workflow.follow_log import ASKED_EVERY, follow_log
from burnin.workflow.logs import LogPiece, NoSuchLog, read_log
from fleet.models import Site

pytestmark = pytest.mark.django_db

NAME = "stdout.txt"


def running(*, duration_s: float = 60) -> tuple[Hub, TestRun]:
    hub = make_hub("n1")
    hub.site.workload = lambda order: hello(order, duration_s=duration_s)
    hub.plan(ONCE)
    hub.work()
    hub.advance(10, tick_s=5)
    run = TestRun.objects.get()
    assert run.state == RunState.RUNNING
    return hub, run


def write(cluster: FakeCluster, run: TestRun, content: bytes) -> None:
    """Let the workload have written so much by now."""
    cluster.files[run.attempts.get().token, NAME] = content


def look(hub: Hub, run: TestRun, offset: int = 0, limit: int = 1000) -> LogPiece:
    """Look at the log as a page does, which is open for a while."""
    assert follow_log(TestRun.objects.get(pk=run.pk), queue=hub.queue, now=hub.now) == ""
    hub.advance(3, tick_s=3)
    run = TestRun.objects.get(pk=run.pk)
    return read_log(run, offset=offset, limit=limit, store=hub.store)


def test_a_log_is_followed_while_it_grows() -> None:
    hub, run = running()

    write(hub.site.cluster, run, b"one\n")
    first = look(hub, run)
    write(hub.site.cluster, run, b"one\ntwo\n")
    second = look(hub, run, first.next_offset)

    assert first == (b"one\n", 4, 4, False)
    assert second == (b"two\n", 8, 8, False)


def test_of_a_long_log_a_piece_is_read() -> None:
    hub, run = running()
    write(hub.site.cluster, run, b"0123456789")

    assert look(hub, run, offset=2, limit=3) == (b"234", 5, 10, False)
    assert look(hub, run, limit=0) == (b"", 0, 10, False)
    assert look(hub, run, offset=99) == (b"", 10, 10, False)


def test_a_collected_log_is_read_from_the_store_and_grows_no_more() -> None:
    hub, run = running()
    write(hub.site.cluster, run, b"hello from n1 live")
    look(hub, run)
    hub.advance(90)
    run = TestRun.objects.get()
    kept = run.attempts.get().artifacts.get(name=NAME)
    stored = hub.store.objects[kept.key]

    piece = read_log(run, offset=1, limit=1000, store=hub.store)

    assert piece == (stored[1:], len(stored), len(stored), True)
    assert logs.size(run.attempts.get().token, NAME) == 0  # what was tailed is not kept twice


def test_a_judged_run_without_a_collected_log_shows_what_was_tailed() -> None:
    hub, run = running()
    write(hub.site.cluster, run, b"last words")
    look(hub, run)
    hub.site.node_uploads = False
    hub.site.cluster.fail_node("n1")
    hub.advance(300)

    run = TestRun.objects.get()

    assert run.state == RunState.JUDGED
    assert read_log(run, offset=0, limit=1000, store=hub.store) == (b"last words", 10, 10, True)


def test_what_was_tailed_and_never_collected_is_forgotten_after_two_weeks() -> None:
    hub, run = running()
    write(hub.site.cluster, run, b"last words")
    look(hub, run)
    token = run.attempts.get().token
    written = datetime.fromtimestamp(logs.path(token, NAME).stat().st_mtime, UTC)

    logs.forget_old(written + logs.KEPT_FOR - timedelta(minutes=1))
    assert logs.size(token, NAME) == 10
    logs.forget_old(written + logs.KEPT_FOR + timedelta(minutes=1))

    assert not logs.path(token, NAME).parent.exists()


def test_there_is_nothing_to_forget_before_anybody_has_looked() -> None:
    logs.forget_old(datetime.now(UTC))


def test_a_run_without_an_attempt_has_an_empty_log() -> None:
    hub = make_hub("n1")
    hub.plan()
    run = TestRun.objects.get()

    assert follow_log(run, queue=hub.queue, now=hub.now) == ""
    assert read_log(run, offset=0, limit=10, store=hub.store) == (b"", 0, 0, False)
    assert not hub.queue.count(TailOrder)


def test_many_who_look_make_one_order_in_two_seconds() -> None:
    hub, run = running()
    just_before = hub.now + ASKED_EVERY - timedelta(milliseconds=1)

    for now in (hub.now, hub.now, just_before):
        assert follow_log(run, queue=hub.queue, now=now) == ""
    assert hub.queue.count(TailOrder) == 1

    follow_log(run, queue=hub.queue, now=hub.now + ASKED_EVERY)
    assert hub.queue.count(TailOrder) == 2


def test_nothing_is_asked_for_of_a_judged_run() -> None:
    hub, _ = running(duration_s=10)
    hub.advance(60)
    run = TestRun.objects.get()
    assert run.state == RunState.JUDGED

    assert follow_log(run, queue=hub.queue, now=hub.now) == ""
    assert not hub.queue.count(TailOrder)


def test_why_a_log_does_not_grow_is_said() -> None:
    hub, run = running()
    hub.queue.is_reachable = False
    assert "switched off" in follow_log(run, queue=hub.queue, now=hub.now)

    hub.queue.is_reachable = True
    Site.objects.update(heartbeat_at=hub.now - timedelta(minutes=1))
    run = TestRun.objects.get()
    assert "no satellite of site east is alive" in follow_log(run, queue=hub.queue, now=hub.now)
    assert not hub.queue.count(TailOrder)


@pytest.mark.parametrize("name", ["metadata.json", "../stdout.txt", ""])
def test_another_file_is_no_log(name: str) -> None:
    hub, run = running()

    with pytest.raises(NoSuchLog, match=r"ask for stdout\.txt, stderr\.txt, slurm\.out"):
        follow_log(run, name, queue=hub.queue, now=hub.now)
    with pytest.raises(NoSuchLog):
        read_log(run, name, offset=0, limit=1, store=hub.store)


def test_a_store_that_is_away_is_no_empty_log() -> None:
    hub, _ = running(duration_s=10)
    hub.advance(60)
    hub.store.is_reachable = False

    with pytest.raises(StoreUnreachable):
        read_log(TestRun.objects.get(), offset=0, limit=10, store=hub.store)
