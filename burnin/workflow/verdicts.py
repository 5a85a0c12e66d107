"""Writes judged runs and the artifacts they were judged by, or nothing of either."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from burnin.hardware_tests.metadata import HardwareTestMetadata
from burnin.models import Artifact, Attempt, TestRun
from burnin.models.verdicts import RunVerdict, record_verdicts
from burnin.states import RunState
from burnin.workflow.gather import KeptArtifact
from burnin.workflow.judge import Judgement
from burnin.workflow.sites import alone_at
from fleet.models import Site


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
    """Judge the runs that still are finished, in one transaction; return how many were.

    A late second courier finds them judged and writes nothing.
    """
    if not conclusions:
        return 0
    with alone_at(site):
        verdicts = [_verdict(each) for each in conclusions]
        judged = set(record_verdicts(verdicts, before=RunState.FINISHED, now=now))
        Artifact.objects.bulk_create(
            Artifact(attempt=each.attempt, **vars(kept))
            for each in conclusions
            if each.run.pk in judged
            for kept in each.kept
        )
    return len(judged)


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
