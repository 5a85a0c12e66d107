"""From what came of a finished run to its verdict. Pure but for reading the files that came."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from burnin.hardware_tests.params import BadParams
from burnin.hardware_tests.registry import UnknownSlug, get_test_class
from burnin.models import Attempt, TestRun
from burnin.slurm.states import NEVER_STARTS, Meaning
from burnin.states import Cause, Verdict
from burnin.workflow.ending import ending_of
from burnin.workflow.gather import Gathered
from burnin.workflow.judge import EndedRun, Judgement, judge
from burnin.workflow.steps import Step, UnreadableStep
from burnin.workflow.verdicts import Conclusion
from runner.contract.wire import AttemptToken


@dataclass(frozen=True)
class Ended:
    """A claimed run with all that its verdict needs besides the artifacts."""

    run: TestRun
    attempt: Attempt
    frozen_step: Mapping[str, Any]  # as its job keeps it
    node_names: tuple[str, ...]
    resource_class: str
    is_suspect: bool  # a worker came to its end while it carried this one, among others perhaps

    @property
    def token(self) -> AttemptToken:
        return self.attempt.token


def conclude(ended: Ended, gathered: Gathered) -> Conclusion:
    """Judge a run by what came. Raises what brings a worker to its end, and nothing else."""
    try:
        step = Step.from_json(ended.frozen_step)
        judgement = _as_asked(step, _judgement(ended, step, gathered))
        frozen = step.thresholds.get(ended.resource_class)
    except UnreadableStep as error:
        judgement, frozen = Judgement(Verdict.ERRORED, Cause.TEST, str(error)), None
    thresholds_id = frozen.version_id if frozen else None
    return _concluded(ended, gathered, judgement, thresholds_id=thresholds_id)


def give_up(ended: Ended, gathered: Gathered | None, why: str) -> Conclusion:
    """Return the verdict of a run that cannot be judged: nothing is known of its hardware."""
    return _concluded(ended, gathered, Judgement(Verdict.ERRORED, Cause.INFRASTRUCTURE, why))


def _concluded(
    ended: Ended,
    gathered: Gathered | None,
    judgement: Judgement,
    *,
    thresholds_id: int | None = None,
) -> Conclusion:
    return Conclusion(
        run=ended.run,
        attempt=ended.attempt,
        judgement=judgement,
        metadata=gathered.metadata if gathered else None,
        kept=gathered.kept if gathered else (),
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
