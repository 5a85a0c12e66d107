"""Writes judged runs and the artifacts they were judged by, or nothing of either.

What infrastructure failed is not judged while it has another attempt: it is planned again.
"""

import logging
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from django.db import DataError, IntegrityError

from burnin.hardware_tests.metadata import HardwareTestMetadata
from burnin.models import Artifact, Attempt, TestRun
from burnin.models.verdicts import RunVerdict, record_verdicts
from burnin.states import Cause, RunState, Verdict
from burnin.workflow import logs, retry
from burnin.workflow.gather import KeptArtifact
from burnin.workflow.judge import Judgement
from burnin.workflow.sites import alone_at
from fleet.models import Site

log = logging.getLogger(__name__)

# What a node wrote can make no row: a number too large, a text that is none.
UNWRITABLE = (DataError, IntegrityError, OverflowError, TypeError, ValueError)


@dataclass(frozen=True)
class Conclusion:
    """A finished run with its verdict, and what that rests on."""

    run: TestRun
    attempt: Attempt
    judgement: Judgement
    metadata: HardwareTestMetadata | None
    kept: tuple[KeptArtifact, ...]
    thresholds_id: int | None


def write_conclusions(site: Site, conclusions: Sequence[Conclusion], now: datetime) -> int:
    """Judge the runs that still are finished, in one transaction; return how many moved on.

    A late second courier finds them judged and writes nothing. One that no database takes is
    errored, and does not hold up the others.
    """
    try:
        return _write(site, conclusions, now)
    except UNWRITABLE as error:
        if len(conclusions) > 1:
            return sum(write_conclusions(site, [each], now) for each in conclusions)
        log.exception("run %s: its results cannot be written", conclusions[0].run.pk)
        return _write(site, [_without_results(conclusions[0], error)], now)


def _without_results(conclusion: Conclusion, error: Exception) -> Conclusion:
    words = f"its results cannot be kept: {type(error).__name__}: {error}"
    judgement = Judgement(Verdict.ERRORED, Cause.TEST, words)
    return replace(conclusion, judgement=judgement, metadata=None)


def _write(site: Site, conclusions: Sequence[Conclusion], now: datetime) -> int:
    if not conclusions:
        return 0
    with alone_at(site):
        conclusions = _still_due(conclusions)
        again = _to_be_repeated(conclusions)
        moved = set(retry.plan_again(again, now))
        verdicts = [_verdict(each) for each in conclusions if each.run.pk not in again]
        moved.update(record_verdicts(verdicts, before=RunState.FINISHED, now=now))
        Artifact.objects.bulk_create(
            Artifact(attempt=each.attempt, **vars(kept))
            for each in conclusions
            if each.run.pk in moved
            for kept in each.kept
        )
    for each in conclusions:
        if each.run.pk in moved:
            logs.forget(each.attempt.token, [kept.name for kept in each.kept])
    return len(moved)


def _still_due(conclusions: Sequence[Conclusion]) -> list[Conclusion]:
    """Return those whose run still waits for the verdict on this very attempt."""
    runs = TestRun.objects.filter(
        pk__in=[each.run.pk for each in conclusions], state=RunState.FINISHED
    )
    due = set(runs.values_list("pk", "attempt_number"))
    return [each for each in conclusions if (each.run.pk, each.attempt.number) in due]


def _to_be_repeated(conclusions: Sequence[Conclusion]) -> dict[uuid.UUID, str]:
    """Return the runs that infrastructure failed and that may have another attempt, and why."""
    failed = [
        each
        for each in conclusions
        if retry.came_to_nothing(each.attempt, each.judgement.verdict, each.judgement.cause)
    ]
    if not failed:
        return {}
    allowances, wanted = retry.Allowances(), retry.still_wanted(each.run for each in failed)
    return {
        each.run.pk: retry.words(each.attempt.number, each.judgement.reason)
        for each in failed
        if each.run.pk in wanted and allowances.has_another(each.run)
    }


def began_at(attempt: Attempt, metadata: HardwareTestMetadata | None) -> datetime | None:
    """Return when the run began, rather too early: an operation after it spoils its evidence.

    The node's clock tells it best but may be wrong, so it counts only between submission and the
    first time that Slurm was seen to run the job.
    """
    seen = attempt.started_at or attempt.ended_at
    said = _time(metadata.started_at) if metadata else None
    known = [each for each in (seen, said) if each is not None]
    if not known:
        return attempt.submitted_at
    return max(min(known), attempt.submitted_at) if attempt.submitted_at else min(known)


def _time(epoch_s: float) -> datetime | None:
    try:
        return datetime.fromtimestamp(epoch_s, UTC)
    except (OverflowError, ValueError, OSError):
        return None


def _verdict(each: Conclusion) -> RunVerdict:
    metadata, judgement = each.metadata, each.judgement
    return RunVerdict(
        run_id=each.run.pk,
        verdict=judgement.verdict,
        cause=judgement.cause,
        reason=judgement.reason,
        attempt_id=each.attempt.pk,
        measured=judgement.measured,
        thresholds_id=each.thresholds_id,
        tools=metadata.tools if metadata else {},
        facts=metadata.facts if metadata else (),
        started_at=began_at(each.attempt, metadata),
        finished_at=each.attempt.ended_at,
    )
