"""From finished runs to verdicts: collect what nodes uploaded, judge it, write it down."""

import logging
import shutil
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q

from burnin.hardware_tests.params import BadParams
from burnin.hardware_tests.registry import UnknownSlug, get_test_class
from burnin.hardware_tests.worker_limits import WORKER_LIMITS
from burnin.models import Attempt, RunNode, TestRun
from burnin.models.set_sql import Change, SetWriter
from burnin.models.text import storable
from burnin.satellite.messages import RelayOrder, TaskName
from burnin.slurm.states import NEVER_STARTS, Meaning
from burnin.states import Cause, RunState, Verdict
from burnin.storage.store import ArtifactStore, StoreRefused, StoreUnreachable
from burnin.workflow import lateness, orders
from burnin.workflow.bells import Bell, Bells
from burnin.workflow.ending import ending_of
from burnin.workflow.gather import Gathered, gather
from burnin.workflow.judge import EndedRun, Judgement, judge
from burnin.workflow.scratch import scratch
from burnin.workflow.site_queue import QueueUnreachable, SiteQueue
from burnin.workflow.sites import why_silent
from burnin.workflow.stages import advance_site
from burnin.workflow.steps import Step, UnreadableStep
from burnin.workflow.verdicts import Conclusion, write_conclusions
from fleet.models import Site
from runner.contract.wire import AttemptToken

log = logging.getLogger(__name__)

RUNS_PER_BATCH = 100
CARRIED_FOR = timedelta(minutes=3)
WRITTEN_EVERY = timedelta(seconds=20)  # a slow store must not keep what is judged
LEFT_ALONE_FOR = timedelta(minutes=15)  # others come first
WORKER_ENDS = 10  # that one attempt may bring about
DOWNLOADS_AT_ONCE = 8
DOWNLOADS_AHEAD = 2 * DOWNLOADS_AT_ONCE
STORE_AWAY = timedelta(seconds=15)
RELAY_URLS_LIVE_S = 3600
_NEEDS_ARTIFACTS = frozenset({Meaning.JUDGE, Meaning.TIMED_OUT})


_Late = lateness.Judge | lateness.Wait | lateness.Relay


@dataclass(frozen=True)
class Ended:
    """A claimed run with all that its verdict needs besides the artifacts."""

    run: TestRun
    attempt: Attempt
    frozen_step: Mapping[str, Any]  # as its job keeps it
    node_names: tuple[str, ...]
    resource_class: str

    @property
    def token(self) -> AttemptToken:
        return self.attempt.token


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
    now = clock()
    due = _due(site, now)
    if not due:
        return 0
    runs = TestRun.objects.claim(due, RunState.FINISHED, for_=CARRIED_FOR, now=now)
    judged = _judge_batch(site, _read(runs), store, queue, clock, now + CARRIED_FOR)
    if judged:
        advance_site(site, clock())
        bells.ring(Bell.DISPATCH, site.pk)
    if len(due) == RUNS_PER_BATCH:
        bells.ring(Bell.COLLECT, site.pk)
    return judged


def _due(site: Site, now: datetime) -> list[uuid.UUID]:
    free = Q(carried_until=None) | Q(carried_until__lte=now)
    runs = TestRun.objects.filter(free, site=site, state=RunState.FINISHED)
    return list(runs.order_by("created_at").values_list("id", flat=True)[:RUNS_PER_BATCH])


def _read(runs: Sequence[TestRun]) -> list[Ended]:
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
        )
        for run in runs
    ]


def _judge_batch(
    site: Site,
    batch: Sequence[Ended],
    store: ArtifactStore,
    queue: SiteQueue,
    clock: Callable[[], datetime],
    held_until: datetime,
) -> int:
    judged, conclusions = 0, list[Conclusion]()
    write_at = clock() + WRITTEN_EVERY
    for ended, late, gathered in _gather_all(site, batch, store, clock):
        now = clock()
        is_whole = not gathered.missing or gathered.refusal
        step = lateness.Judge() if is_whole else late
        match step:
            case lateness.Judge():
                try:
                    conclusions.append(conclude(ended, gathered))
                except WORKER_LIMITS as limit:
                    conclusions += _after_an_end(ended, gathered, limit, now)
                    write_conclusions(site, conclusions, now)  # the next tick advances the site
                    raise
            case lateness.Wait():
                _wait(ended, step.for_, step.why, now)
            case lateness.Relay():
                _relay(site, ended, gathered, store, queue, now)
        if now >= write_at:
            judged += write_conclusions(site, conclusions, now)
            ids = [each.run.pk for each in batch]
            TestRun.objects.prolong(ids, held_until, until=now + CARRIED_FOR)
            conclusions, write_at, held_until = [], now + WRITTEN_EVERY, now + CARRIED_FOR
    return judged + write_conclusions(site, conclusions, clock())


def _after_an_end(
    ended: Ended, gathered: Gathered, limit: BaseException, now: datetime
) -> list[Conclusion]:
    """Let others come first: what ended a worker may end the next, though not without end."""
    ends = ended.attempt.worker_ends + 1
    Attempt.objects.filter(pk=ended.attempt.pk).update(worker_ends=ends)
    words = f"{ends} of {WORKER_ENDS} workers came to their end over it ({type(limit).__name__})"
    log.error("run %s: %s", ended.run.pk, words)
    if ends < WORKER_ENDS:
        _wait(ended, LEFT_ALONE_FOR, words, now)
        return []
    return [_concluded(ended, gathered, Judgement(Verdict.ERRORED, Cause.INFRASTRUCTURE, words))]


def _gather_all(
    site: Site, batch: Sequence[Ended], store: ArtifactStore, clock: Callable[[], datetime]
) -> Iterator[tuple[Ended, _Late, Gathered]]:
    """Yield what came, as it comes. Its files are gone once the next one is asked for."""
    waiting = list(reversed(batch))
    pending: dict[Future[Gathered], tuple[Ended, _Late]] = {}
    with scratch() as room, ThreadPoolExecutor(DOWNLOADS_AT_ONCE) as pool:
        while waiting or pending:
            while waiting and len(pending) < DOWNLOADS_AHEAD:
                ended = waiting.pop()
                late = _if_late(site, ended, clock())
                may_wait = not isinstance(late, lateness.Judge)
                future = pool.submit(gather, store, site.name, ended.token, room, may_wait=may_wait)
                pending[future] = ended, late
            for future in wait(pending, return_when=FIRST_COMPLETED).done:
                yield from _arrived(*pending.pop(future), future, clock())


def _arrived(
    ended: Ended, late: _Late, future: Future[Gathered], now: datetime
) -> Iterator[tuple[Ended, _Late, Gathered]]:
    try:
        gathered = future.result()
    except (StoreUnreachable, StoreRefused) as error:
        log.warning("run %s is collected later: %s", ended.run.pk, error)
        return _wait(ended, STORE_AWAY, f"the artifact store cannot be used: {error}", now)
    yield ended, late, gathered
    shutil.rmtree(gathered.directory)
    return None


def _if_late(site: Site, ended: Ended, now: datetime) -> _Late:
    """Say what comes next if some of the run's artifacts are not there."""
    attempt = ended.attempt
    outcome = ending_of(attempt.slurm_state, attempt.slurm_reason, source="")
    if ended.run.cancel_reason or outcome.meaning not in _NEEDS_ARTIFACTS:
        return lateness.Judge()
    return lateness.decide(
        lateness.Lateness(
            ended_at=attempt.ended_at or ended.run.moved_at,
            relay_asked_at=attempt.relay_asked_at,
            relayed_at=attempt.relayed_at,
            relay_words=attempt.relay_words,
            site_is_silent=bool(why_silent(site, now)),
        ),
        now,
    )


def _wait(ended: Ended, for_: timedelta, why: str, now: datetime) -> None:
    TestRun.objects.filter(pk=ended.run.pk, state=RunState.FINISHED).update(
        carried_until=now + for_, waits_because=storable(why, limit=500)
    )


def _relay(
    site: Site,
    ended: Ended,
    gathered: Gathered,
    store: ArtifactStore,
    queue: SiteQueue,
    now: datetime,
) -> None:
    """Have the satellite upload what the node could not, with URLs of its own."""
    urls = orders.upload_urls(store, site, ended.token, expires_s=RELAY_URLS_LIVE_S)
    order = RelayOrder(
        run_id=ended.token.run_id,
        attempt=ended.token.attempt,
        uploads={name: urls[name] for name in gathered.missing},
    )
    try:
        queue.send(site.name, TaskName.RELAY, order, expires_s=orders.ORDER_LIVES_S)
    except QueueUnreachable as error:
        log.warning("run %s: its artifacts are not asked for yet: %s", ended.run.pk, error)
        return _wait(ended, STORE_AWAY, str(error), now)
    change = Change(constants={"relay_asked_at": now, "relayed_at": None})
    SetWriter(Attempt, "default").update([{"id": ended.attempt.pk}], change)
    return _wait(ended, lateness.LOOK_SELDOM, "the satellite is asked for its artifacts", now)


def conclude(ended: Ended, gathered: Gathered) -> Conclusion:
    """Judge a run by what came. Pure but for reading the files."""
    try:
        step = Step.from_json(ended.frozen_step)
        judgement = _as_asked(step, _judgement(ended, step, gathered))
        frozen = step.thresholds.get(ended.resource_class)
    except UnreadableStep as error:
        judgement, frozen = Judgement(Verdict.ERRORED, Cause.TEST, str(error)), None
    return _concluded(ended, gathered, judgement, frozen.version_id if frozen else None)


def _concluded(
    ended: Ended, gathered: Gathered, judgement: Judgement, thresholds_id: int | None = None
) -> Conclusion:
    return Conclusion(
        run=ended.run,
        attempt=ended.attempt,
        judgement=judgement,
        metadata=gathered.metadata,
        kept=gathered.kept,
        thresholds_id=thresholds_id,
    )


def _judgement(ended: Ended, step: Step, gathered: Gathered) -> Judgement:
    if gathered.refusal:
        return Judgement(Verdict.ERRORED, Cause.INFRASTRUCTURE, gathered.refusal)
    if ended.resource_class not in step.thresholds:
        words = f"the job froze no threshold for class {ended.resource_class}"
        return Judgement(Verdict.ERRORED, Cause.TEST, f"no calibrated threshold: {words}")
    try:
        return _judge_ended(ended, step, gathered)
    except (UnknownSlug, BadParams) as error:  # the test has changed since it was planned
        return Judgement(Verdict.ERRORED, Cause.TEST, str(error))


def _judge_ended(ended: Ended, step: Step, gathered: Gathered) -> Judgement:
    attempt = ended.attempt
    outcome = ending_of(attempt.slurm_state, attempt.slurm_reason, source="")
    if outcome.meaning is Meaning.CANCELLED and ended.run.cancel_reason.startswith(NEVER_STARTS):
        return Judgement(Verdict.ERRORED, Cause.TEST, ended.run.cancel_reason)
    if gathered.missing and ended.run.cancel_reason:
        return Judgement(Verdict.SKIPPED, Cause.NONE, ended.run.cancel_reason)
    return judge(
        EndedRun(
            test=get_test_class(step.slug)(),
            params=step.parsed_params(ended.resource_class),
            token=ended.token,
            resource_class=ended.resource_class,
            outcome=replace(outcome, final=True),
            exit_code=attempt.exit_code or None,
            requested_nodes=ended.node_names,
            directory=gathered.directory,
            iterations=step.iterations,
            cancel_reason=ended.run.cancel_reason,
            limits=step.limits_for(ended.resource_class),
            scratch=gathered.directory.parent,
        )
    )


def _as_asked(step: Step, judgement: Judgement) -> Judgement:
    """What a preset only measures is stored and plotted, whatever the gates say."""
    if not step.measure_only or judgement.measured is None:
        return judgement
    return replace(judgement, verdict=Verdict.MEASURED, cause=Cause.NONE)
