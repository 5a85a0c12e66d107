"""From finished runs to verdicts: collect what nodes uploaded, judge it, write it down."""

import logging
import shutil
import uuid
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.db.models import Q

from burnin.hardware_tests.params import BadParams
from burnin.hardware_tests.registry import UnknownSlug, get_test_class
from burnin.models import Attempt, RunNode, TestRun
from burnin.models.set_sql import Change, SetWriter
from burnin.models.text import storable
from burnin.satellite.messages import RelayOrder, TaskName
from burnin.slurm.states import Meaning
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
from burnin.workflow.steps import Step, steps_of
from burnin.workflow.verdicts import Conclusion, write_conclusions
from fleet.models import Site
from runner.contract.wire import AttemptToken

log = logging.getLogger(__name__)

RUNS_PER_BATCH = 100
CARRIED_FOR = timedelta(minutes=3)
DOWNLOADS_AT_ONCE = 8
DOWNLOADS_AHEAD = 2 * DOWNLOADS_AT_ONCE
STORE_AWAY = timedelta(seconds=15)
RELAY_URLS_LIVE_S = 3600
NEVER_STARTS = "the job can never start"
_NEEDS_ARTIFACTS = frozenset({Meaning.JUDGE, Meaning.TIMED_OUT})


@dataclass(frozen=True)
class Ended:
    """A claimed run with all that its verdict needs besides the artifacts."""

    run: TestRun
    attempt: Attempt
    step: Step
    node_names: tuple[str, ...]
    resource_class: str

    @property
    def token(self) -> AttemptToken:
        return self.attempt.token


def collect_site(
    site: Site, *, store: ArtifactStore, queue: SiteQueue, bells: Bells, now: datetime
) -> int:
    """Collect and judge one batch of the site's finished runs; return how many were judged.

    Called twice at once, each run is carried by one of the two. No transaction is open while
    the store is asked.
    """
    due = _due(site, now)
    if not due:
        return 0
    runs = TestRun.objects.claim(due, RunState.FINISHED, for_=CARRIED_FOR, now=now)
    judged = _judge_batch(site, _read(runs), store, queue, now)
    if judged:
        advance_site(site, now)
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
    steps = {run.job_id: steps_of(run.job.steps) for run in runs}
    return [
        Ended(
            run=run,
            attempt=attempts[run.pk],
            step=steps[run.job_id][run.step],
            node_names=tuple(each.node.name for each in members[run.pk]),
            resource_class=members[run.pk][0].node.resource_class.name,
        )
        for run in runs
    ]


def _judge_batch(
    site: Site, batch: Sequence[Ended], store: ArtifactStore, queue: SiteQueue, now: datetime
) -> int:
    conclusions: list[Conclusion] = []
    for ended, gathered in _gather_all(site, batch, store, now):
        step = _lateness(site, ended, gathered, now)
        match step:
            case lateness.Judge():
                conclusions.append(conclude(ended, gathered))
            case lateness.Wait():
                _wait(ended, step.for_, step.why, now)
            case lateness.Relay():
                _relay(site, ended, gathered, store, queue, now)
    return write_conclusions(site, conclusions, now)


def _gather_all(
    site: Site, batch: Sequence[Ended], store: ArtifactStore, now: datetime
) -> Iterator[tuple[Ended, Gathered]]:
    """Yield what came, as it comes. Its files are gone once the next one is asked for."""
    waiting = list(reversed(batch))
    pending: dict[Future[Gathered], Ended] = {}
    with scratch() as room, ThreadPoolExecutor(DOWNLOADS_AT_ONCE) as pool:
        while waiting or pending:
            while waiting and len(pending) < DOWNLOADS_AHEAD:
                ended = waiting.pop()
                pending[pool.submit(gather, store, site.name, ended.token, room)] = ended
            for future in wait(pending, return_when=FIRST_COMPLETED).done:
                yield from _arrived(pending.pop(future), future, now)


def _arrived(
    ended: Ended, future: Future[Gathered], now: datetime
) -> Iterator[tuple[Ended, Gathered]]:
    try:
        gathered = future.result()
    except (StoreUnreachable, StoreRefused) as error:
        log.warning("run %s is collected later: %s", ended.run.pk, error)
        return _wait(ended, STORE_AWAY, f"the artifact store cannot be used: {error}", now)
    yield ended, gathered
    shutil.rmtree(gathered.directory)
    return None


def _lateness(
    site: Site, ended: Ended, gathered: Gathered, now: datetime
) -> lateness.Judge | lateness.Wait | lateness.Relay:
    attempt = ended.attempt
    outcome = ending_of(attempt.slurm_state, attempt.slurm_reason, source="")
    is_enough = not gathered.missing or gathered.refusal or ended.run.cancel_reason
    if is_enough or outcome.meaning not in _NEEDS_ARTIFACTS:
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
    frozen = ended.step.thresholds.get(ended.resource_class)
    return Conclusion(
        run=ended.run,
        attempt=ended.attempt,
        judgement=_as_asked(ended.step, _judgement(ended, gathered)),
        metadata=gathered.metadata,
        kept=gathered.kept,
        thresholds_id=frozen.version_id if frozen else None,
    )


def _judgement(ended: Ended, gathered: Gathered) -> Judgement:
    if gathered.refusal:
        return Judgement(Verdict.ERRORED, Cause.INFRASTRUCTURE, gathered.refusal)
    if ended.resource_class not in ended.step.thresholds:
        words = f"the job froze no threshold for class {ended.resource_class}"
        return Judgement(Verdict.ERRORED, Cause.TEST, f"no calibrated threshold: {words}")
    try:
        return _judge_ended(ended, gathered)
    except (UnknownSlug, BadParams) as error:  # the test has changed since it was planned
        return Judgement(Verdict.ERRORED, Cause.TEST, str(error))


def _judge_ended(ended: Ended, gathered: Gathered) -> Judgement:
    attempt = ended.attempt
    outcome = ending_of(attempt.slurm_state, attempt.slurm_reason, source="")
    if outcome.meaning is Meaning.CANCELLED and ended.run.cancel_reason.startswith(NEVER_STARTS):
        return Judgement(Verdict.ERRORED, Cause.TEST, ended.run.cancel_reason)
    if gathered.missing and ended.run.cancel_reason:
        return Judgement(Verdict.SKIPPED, Cause.NONE, ended.run.cancel_reason)
    return judge(
        EndedRun(
            test=get_test_class(ended.step.slug)(),
            params=ended.step.parsed_params(),
            token=ended.token,
            resource_class=ended.resource_class,
            outcome=replace(outcome, final=True),
            exit_code=attempt.exit_code or None,
            requested_nodes=ended.node_names,
            directory=gathered.directory,
            iterations=ended.step.iterations,
            cancel_reason=ended.run.cancel_reason,
            limits=ended.step.limits_for(ended.resource_class),
            scratch=gathered.directory.parent,
        )
    )


def _as_asked(step: Step, judgement: Judgement) -> Judgement:
    """What a preset only measures is stored and plotted, whatever the gates say."""
    if not step.measure_only or judgement.measured is None:
        return judgement
    return replace(judgement, verdict=Verdict.MEASURED, cause=Cause.NONE)
