"""From finished runs to verdicts: collect what nodes uploaded, judge it, write it down."""

import logging
import shutil
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db.models import F, Q

from burnin.models import Attempt, RunNode, TestRun
from burnin.models.set_sql import Change, SetWriter
from burnin.models.text import storable
from burnin.satellite.messages import RelayOrder, TaskName
from burnin.slurm.states import Meaning
from burnin.states import RunState
from burnin.storage.store import ArtifactStore, StoreRefused, StoreUnreachable
from burnin.workflow import lateness, orders
from burnin.workflow.bells import Bell, Bells
from burnin.workflow.conclude import Ended, conclude, give_up
from burnin.workflow.ending import ending_of
from burnin.workflow.gather import Gathered, gather
from burnin.workflow.scratch import scratch
from burnin.workflow.site_queue import QueueUnreachable, SiteQueue
from burnin.workflow.sites import why_silent
from burnin.workflow.stages import advance_site
from burnin.workflow.verdicts import Conclusion, write_conclusions
from fleet.models import Site

log = logging.getLogger(__name__)

RUNS_PER_BATCH = 100
CARRIED_FOR = timedelta(minutes=3)
WRITTEN_EVERY = timedelta(seconds=20)  # a slow store must not keep what is judged
LEFT_ALONE_FOR = timedelta(minutes=15)  # others come first
WORKER_ENDS = 10  # that one attempt may bring about
WORKER_ENDED = "a worker ended while it carried this run"
DOWNLOADS_AT_ONCE = 8
DOWNLOADS_AHEAD = 2 * DOWNLOADS_AT_ONCE
STORE_AWAY = timedelta(seconds=15)
RELAY_URLS_LIVE_S = 3600
_NEEDS_ARTIFACTS = frozenset({Meaning.JUDGE, Meaning.TIMED_OUT})


_Late = lateness.Judge | lateness.Wait | lateness.Relay
_Arrival = tuple[Ended, _Late, Gathered]


def collect_site(
    site: Site,
    *,
    store: ArtifactStore,
    queue: SiteQueue,
    bells: Bells,
    clock: Callable[[], datetime],
) -> int:
    """Collect and judge one batch of the site's finished runs; return how many were judged.

    Called twice at once, each run is carried by one of the two. No transaction is open while
    the store is asked. `clock` tells the time: a batch may take minutes.
    """
    due = _due(site, clock())
    collection = _Collection(site=site, store=store, queue=queue, clock=clock)
    judged = collection.judge([run_id for run_id in due if not due[run_id]], are_suspect=False)
    for run_id in (each for each in due if due[each]):  # alone: it may take its worker with it
        judged += collection.judge([run_id], are_suspect=True)
    if judged:
        advance_site(site, clock())
        bells.ring(Bell.DISPATCH, site.pk)
    if len(due) == RUNS_PER_BATCH:
        bells.ring(Bell.COLLECT, site.pk)
    return judged


def _due(site: Site, now: datetime) -> dict[uuid.UUID, bool]:
    """Return the runs to be collected, and of each whether a worker has come to an end over it.

    What else that worker carried cannot be told from it yet.
    """
    free = Q(carried_until=None) | Q(carried_until__lte=now)
    newest = Q(attempts__number=F("attempt_number"))
    runs = TestRun.objects.filter(free, newest, site=site, state=RunState.FINISHED)
    found = runs.order_by("created_at").values_list("id", "in_hand", "attempts__worker_ends")
    return {run_id: in_hand or ends > 0 for run_id, in_hand, ends in found[:RUNS_PER_BATCH]}


def _read(runs: Sequence[TestRun], *, are_suspect: bool) -> list[Ended]:
    by_id = {run.pk: run for run in runs}
    newest = Attempt.objects.filter(run_id__in=by_id).order_by("number").defer("script", "context")
    attempts = {each.run_id: each for each in newest}
    members: dict[uuid.UUID, list[RunNode]] = {}
    rows = RunNode.objects.filter(run_id__in=by_id).order_by("position")
    for row in rows.select_related("node__resource_class"):
        members.setdefault(row.run_id, []).append(row)
    steps = {(run.job_id, each["position"]): each for run in runs for each in run.job.steps}
    return [
        Ended(
            run=run,
            attempt=attempts[run.pk],
            frozen_step=steps[run.job_id, run.step],
            node_names=tuple(each.node.name for each in members[run.pk]),
            resource_class=members[run.pk][0].node.resource_class.name,
            is_suspect=are_suspect,
        )
        for run in runs
    ]


@dataclass
class _Verdicts:
    """Those that are known, until they are written."""

    site: Site
    clock: Callable[[], datetime]
    known: list[Conclusion] = field(default_factory=list)
    written: int = 0

    def write(self) -> None:
        self.written += write_conclusions(self.site, self.known, self.clock())
        self.known = []


@dataclass(frozen=True)
class _Collection:
    """A batch of a site's finished runs on its way to verdicts."""

    site: Site
    store: ArtifactStore
    queue: SiteQueue
    clock: Callable[[], datetime]

    def judge(self, run_ids: Sequence[uuid.UUID], *, are_suspect: bool) -> int:
        """Claim the runs and judge what has come of them; return how many were judged."""
        now = self.clock()
        runs = TestRun.objects.claim(run_ids, RunState.FINISHED, for_=CARRIED_FOR, now=now)
        if not runs:
            return 0
        verdicts = _Verdicts(self.site, self.clock)
        try:
            self._judge(_read(runs, are_suspect=are_suspect), verdicts, until=now + CARRIED_FOR)
        except Exception:
            verdicts.write()  # the next tick advances the site
            if not are_suspect:
                TestRun.objects.filter(pk__in=[run.pk for run in runs]).update(in_hand=False)
            raise
        verdicts.write()
        return verdicts.written

    def _judge(self, batch: Sequence[Ended], verdicts: _Verdicts, *, until: datetime) -> None:
        """Judge the runs as they come; held `until` then, they are held longer if need be."""
        write_at = self.clock() + WRITTEN_EVERY
        for arrival in self._arrivals(batch):
            if arrival is not None:
                self._take_in(*arrival, verdicts=verdicts)
            now = self.clock()
            if now >= write_at:
                verdicts.write()
                TestRun.objects.prolong(
                    [each.run.pk for each in batch], until, until=now + CARRIED_FOR
                )
                write_at, until = now + WRITTEN_EVERY, now + CARRIED_FOR

    def _take_in(
        self, ended: Ended, late: _Late, gathered: Gathered, *, verdicts: _Verdicts
    ) -> None:
        is_whole = not gathered.missing or gathered.refusal
        step = lateness.Judge() if is_whole else late
        match step:
            case lateness.Judge():
                self._conclude(ended, gathered, verdicts=verdicts)
            case lateness.Wait():
                self._put_off(ended, for_=step.for_, why=step.why)
            case lateness.Relay():
                self._relay(ended, gathered.missing)

    def _conclude(self, ended: Ended, gathered: Gathered, *, verdicts: _Verdicts) -> None:
        """Judge it. A suspect is counted before it can end the worker."""
        if ended.attempt.worker_ends >= WORKER_ENDS:
            verdicts.known.append(give_up(ended, gathered, _counted(ended, WORKER_ENDED)))
            return
        if ended.is_suspect:
            self._count(ended)
            self._leave_alone(ended, WORKER_ENDED)
        try:
            verdicts.known.append(conclude(ended, gathered))
        except Exception as error:  # a limit of the worker, or a defect of ours
            why = f"judging it broke off ({type(error).__name__})"
            if not ended.is_suspect:
                self._count(ended)
            self._leave_alone(ended, why)
            if ended.attempt.worker_ends >= WORKER_ENDS:
                verdicts.known.append(give_up(ended, gathered, _counted(ended, why)))
            raise

    def _count(self, ended: Ended) -> None:
        ended.attempt.worker_ends += 1
        one_more = F("worker_ends") + 1
        Attempt.objects.filter(pk=ended.attempt.pk).update(worker_ends=one_more)

    def _leave_alone(self, ended: Ended, why: str) -> None:
        """Let others come first: what broke off may do so again, though not without end."""
        why = _counted(ended, why)
        log.warning("run %s: %s", ended.run.pk, why)
        self._put_off(ended, for_=LEFT_ALONE_FOR, why=why)

    def _arrivals(self, batch: Sequence[Ended]) -> Iterator[_Arrival | None]:
        """Yield what came, as it comes, and None now and then.

        Its files are gone once the next one is asked for.
        """
        waiting = list(reversed(batch))
        pending: dict[Future[Gathered], tuple[Ended, _Late]] = {}
        with scratch() as room, ThreadPoolExecutor(DOWNLOADS_AT_ONCE) as pool:
            while waiting or pending:
                while waiting and len(pending) < DOWNLOADS_AHEAD:
                    ended = waiting.pop()
                    late = self._if_late(ended)
                    may_wait = not isinstance(late, lateness.Judge)
                    future = pool.submit(
                        gather, self.store, self.site.name, ended.token, room, may_wait=may_wait
                    )
                    pending[future] = ended, late
                limit_s = WRITTEN_EVERY.total_seconds()
                for future in wait(pending, limit_s, return_when=FIRST_COMPLETED).done:
                    yield from self._arrived(*pending.pop(future), future)
                yield None

    def _arrived(self, ended: Ended, late: _Late, future: Future[Gathered]) -> Iterator[_Arrival]:
        try:
            gathered = future.result()
        except (StoreUnreachable, StoreRefused) as error:
            log.warning("run %s is collected later: %s", ended.run.pk, error)
            why = f"the artifact store cannot be used: {error}"
            return self._put_off(ended, for_=STORE_AWAY, why=why)
        yield ended, late, gathered
        shutil.rmtree(gathered.directory)
        return None

    def _if_late(self, ended: Ended) -> _Late:
        """Say what comes next if some of the run's artifacts are not there."""
        attempt, now = ended.attempt, self.clock()
        outcome = ending_of(attempt.slurm_state, attempt.slurm_reason, source="")
        if ended.run.cancel_reason or outcome.meaning not in _NEEDS_ARTIFACTS:
            return lateness.Judge()
        return lateness.decide(
            lateness.Lateness(
                ended_at=attempt.ended_at or ended.run.moved_at,
                relay_asked_at=attempt.relay_asked_at,
                relayed_at=attempt.relayed_at,
                relay_words=attempt.relay_words,
                site_is_silent=bool(why_silent(self.site, now)),
            ),
            now,
        )

    def _relay(self, ended: Ended, missing: Sequence[str]) -> None:
        """Have the satellite upload what the node could not, with URLs of its own."""
        urls = orders.upload_urls(self.store, self.site, ended.token, expires_s=RELAY_URLS_LIVE_S)
        order = RelayOrder(
            run_id=ended.token.run_id,
            attempt=ended.token.attempt,
            uploads={name: urls[name] for name in missing},
        )
        try:
            self.queue.send(self.site.name, TaskName.RELAY, order, expires_s=orders.ORDER_LIVES_S)
        except QueueUnreachable as error:
            log.warning("run %s: its artifacts are not asked for yet: %s", ended.run.pk, error)
            return self._put_off(ended, for_=STORE_AWAY, why=str(error))
        change = Change(constants={"relay_asked_at": self.clock(), "relayed_at": None})
        SetWriter(Attempt, "default").update([{"id": ended.attempt.pk}], change)
        why = "the satellite is asked for its artifacts"
        return self._put_off(ended, for_=lateness.LOOK_SELDOM, why=why)

    def _put_off(self, ended: Ended, *, for_: timedelta, why: str) -> None:
        """Let go of the run; of a suspect only when it is judged."""
        TestRun.objects.filter(pk=ended.run.pk, state=RunState.FINISHED).update(
            carried_until=self.clock() + for_,
            waits_because=storable(why, limit=500),
            in_hand=ended.is_suspect,
        )


def _counted(ended: Ended, why: str) -> str:
    return f"{why}, {ended.attempt.worker_ends} of {WORKER_ENDS} times"
