"""When a run that infrastructure failed gets another attempt: its job is certainly over."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from datetime import datetime

from burnin.models import Attempt, Job, TestRun
from burnin.models.job import JobState
from burnin.models.text import storable
from burnin.states import Cause, RunState, Verdict
from burnin.workflow.ending import LOST_STATE
from burnin.workflow.steps import Step, UnreadableStep, steps_of
from runner.contract.wire import ExitCode

ASKED_IN_VAIN = "DEADLINE"  # it waited for as long as somebody wanted to wait


class Allowances:
    """How many attempts runs may take, by the frozen steps of their jobs."""

    def __init__(self) -> None:
        self._steps: dict[uuid.UUID, dict[int, Step]] = {}

    def has_another(self, run: TestRun) -> bool:
        """Say whether the run may be tried again; a step that cannot be read allows nothing."""
        if run.job_id not in self._steps:
            kept = Job.objects.values_list("steps").get(pk=run.job_id)[0]
            try:
                self._steps[run.job_id] = steps_of(kept)
            except UnreadableStep:
                return False
        return run.attempt_number < self._steps[run.job_id][run.step].max_attempts


def came_to_nothing(attempt: Attempt, verdict: Verdict, cause: Cause) -> bool:
    """Say whether infrastructure failed the attempt, and its Slurm job has certainly ended.

    Nobody knows what became of a lost job; and who found the attempt claimed left another start
    of it at work.
    """
    if (verdict, cause) != (Verdict.ERRORED, Cause.INFRASTRUCTURE):
        return False
    code = attempt.exit_code.partition(":")[0]
    has_ended = attempt.ended_at is not None and attempt.slurm_state != LOST_STATE
    return (
        has_ended
        and attempt.slurm_state != ASKED_IN_VAIN
        and code != str(int(ExitCode.ALREADY_CLAIMED))
    )


def still_wanted(runs: Iterable[TestRun]) -> set[uuid.UUID]:
    """Return which of the runs nobody has cancelled. Ask alone at their site."""
    wanted = TestRun.objects.filter(cancel_reason="", job__state=JobState.ACTIVE)
    return set(wanted.filter(pk__in=[run.pk for run in runs]).values_list("pk", flat=True))


def words(attempt_number: int, reason: str) -> str:
    """Say why a run is planned again."""
    return f"attempt {attempt_number} came to nothing, and another one follows: {reason}"


def plan_again(reasons: Mapping[uuid.UUID, str], now: datetime) -> list[uuid.UUID]:
    """Have finished runs wait for another attempt, each for its reason; return those that do."""
    rows = {
        run_id: {"waits_because": storable(reason, limit=500)} for run_id, reason in reasons.items()
    }
    return TestRun.objects.move_each(
        rows, RunState.FINISHED, RunState.PLANNED, now=now, notes=reasons
    )
