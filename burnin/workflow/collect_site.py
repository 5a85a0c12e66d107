"""From finished runs to verdicts: collect what nodes uploaded, judge it, write it down."""

import logging
import shutil
import uuid
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timedelta

from burnin.models import Attempt
from burnin.models.set_sql import Change, SetWriter
from burnin.satellite.messages import RelayOrder, TaskName
from burnin.slurm.states import Meaning
from burnin.storage.store import ArtifactStore, StoreRefused, StoreUnreachable
from burnin.workflow import lateness, orders
from burnin.workflow.bells import Bell, Bells
from burnin.workflow.claimed import RUNS_PER_BATCH, WORKER_ENDS, Claimed, claim, due_runs
from burnin.workflow.conclude import Ended, conclude
from burnin.workflow.ending import ending_of
from burnin.workflow.gather import Gathered, gather
from burnin.workflow.scratch import scratch
from burnin.workflow.site_queue import QueueUnreachable, SiteQueue
from burnin.workflow.sites import why_silent
from burnin.workflow.stages import advance_site
from fleet.models import Site

log = logging.getLogger(__name__)

WRITTEN_EVERY = timedelta(seconds=20)  # a slow store must not keep what is judged
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
    due = due_runs(site, clock())
    collection = _Collection(site=site, store=store, queue=queue, clock=clock)
    suspects = [run_id for run_id, is_suspect in due.items() if is_suspect]
    judged = collection.judge(due.keys() - suspects, are_suspect=False)
    for run_id in suspects:  # alone: it may take its worker with it
        judged += collection.judge([run_id], are_suspect=True)
    if judged:
        advance_site(site, clock())
        bells.ring(Bell.DISPATCH, site.pk)
    if len(due) == RUNS_PER_BATCH:
        bells.ring(Bell.COLLECT, site.pk)
    return judged


@dataclass(frozen=True)
class _Collection:
    """A batch of a site's finished runs on its way to verdicts."""

    site: Site
    store: ArtifactStore
    queue: SiteQueue
    clock: Callable[[], datetime]

    def judge(self, run_ids: Iterable[uuid.UUID], *, are_suspect: bool) -> int:
        """Claim the runs and judge what has come of them; return how many were judged."""
        claimed = claim(self.site, run_ids, are_suspect=are_suspect, clock=self.clock)
        with closing(self._arrivals(claimed)) as arrivals:
            try:
                self._judge(arrivals, claimed)
                claimed.write()
            except Exception as error:
                claimed.write_and_let_go(error)  # the next tick advances the site
                raise
        return claimed.judged

    def _judge(self, arrivals: Iterator[_Arrival | None], claimed: Claimed) -> None:
        write_at = self.clock() + WRITTEN_EVERY
        for arrival in arrivals:
            if arrival is not None:
                self._take_in(*arrival, claimed=claimed)
            if self.clock() >= write_at:
                claimed.write()
                claimed.prolong()
                write_at = self.clock() + WRITTEN_EVERY

    def _take_in(self, ended: Ended, late: _Late, gathered: Gathered, *, claimed: Claimed) -> None:
        is_whole = not gathered.missing or gathered.refusal
        step = lateness.Judge() if is_whole else late
        match step:
            case lateness.Judge():
                _conclude(ended, gathered, claimed=claimed)
            case lateness.Wait():
                claimed.put_off(ended, for_=step.for_, why=step.why)
            case lateness.Relay():
                self._relay(ended, gathered.missing, claimed=claimed)

    def _arrivals(self, claimed: Claimed) -> Generator[_Arrival | None, None, None]:
        """Yield what came, as it comes, and None now and then.

        Its files are gone once the next one is asked for.
        """
        waiting = list(reversed(claimed.runs))
        pending: dict[Future[Gathered], tuple[Ended, _Late]] = {}
        with scratch() as room, ThreadPoolExecutor(DOWNLOADS_AT_ONCE) as pool:
            try:
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
                        yield from _arrived(*pending.pop(future), future, claimed=claimed)
                    yield None
            finally:
                pool.shutdown(wait=False, cancel_futures=True)

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

    def _relay(self, ended: Ended, missing: Sequence[str], *, claimed: Claimed) -> None:
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
            return claimed.put_off(ended, for_=STORE_AWAY, why=str(error))
        change = Change(constants={"relay_asked_at": self.clock(), "relayed_at": None})
        SetWriter(Attempt, "default").update([{"id": ended.attempt.pk}], change)
        why = "the satellite is asked for its artifacts"
        return claimed.put_off(ended, for_=lateness.LOOK_SELDOM, why=why)


def _arrived(
    ended: Ended, late: _Late, future: Future[Gathered], *, claimed: Claimed
) -> Iterator[_Arrival]:
    try:
        gathered = future.result()
    except (StoreUnreachable, StoreRefused) as error:
        log.warning("run %s is collected later: %s", ended.run.pk, error)
        why = f"the artifact store cannot be used: {error}"
        return claimed.put_off(ended, for_=STORE_AWAY, why=why)
    yield ended, late, gathered
    shutil.rmtree(gathered.directory)
    return None


def _conclude(ended: Ended, gathered: Gathered, *, claimed: Claimed) -> None:
    try:
        claimed.known.append(conclude(ended, gathered))
    except Exception as error:  # a limit of the worker, or a defect of ours
        why = f"judging it broke off ({type(error).__name__})"
        claimed.count(ended, why)
        if ended.attempt.worker_ends >= WORKER_ENDS:
            claimed.give_up(ended, why, gathered=gathered)
        raise
