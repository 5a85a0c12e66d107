"""What a run can end as. Whether it ran and whether the hardware passed are two axes."""

from enum import StrEnum


class Verdict(StrEnum):
    """The judgement of one run. Only `failed` counts against the hardware."""

    PASSED = "passed"
    FAILED = "failed"
    ERRORED = "errored"
    INCONCLUSIVE = "inconclusive"
    SKIPPED = "skipped"
    MEASURED = "measured"


class Cause(StrEnum):
    """Where the reason for a verdict lies."""

    NONE = ""
    HARDWARE = "hardware"
    TEST = "test"  # tool, params, parse
    INFRASTRUCTURE = "infrastructure"  # Slurm, store, SSH


class RunState(StrEnum):
    """Where a run is on its way. Whether it passed is its verdict."""

    PLANNED = "planned"
    DISPATCHED = "dispatched"  # handed to the site's queue
    SUBMITTED = "submitted"  # Slurm has it
    RUNNING = "running"
    FINISHED = "finished"  # Slurm is done with it; the artifacts are not judged yet
    JUDGED = "judged"


# As values, which a database takes.
IN_FLIGHT = (RunState.DISPATCHED.value, RunState.SUBMITTED.value, RunState.RUNNING.value)
AT_WORK = (RunState.RUNNING.value, RunState.FINISHED.value)
VERDICTS = frozenset(verdict.value for verdict in Verdict)

# Besides one step forward: skipped, refused, a job that ended between two looks, and a run that
# infrastructure failed, which waits for another attempt.
NEXT = {
    RunState.PLANNED: frozenset({RunState.DISPATCHED, RunState.JUDGED}),
    RunState.DISPATCHED: frozenset({RunState.SUBMITTED, RunState.JUDGED, RunState.PLANNED}),
    RunState.SUBMITTED: frozenset({RunState.RUNNING, RunState.FINISHED}),
    RunState.RUNNING: frozenset({RunState.FINISHED}),
    RunState.FINISHED: frozenset({RunState.JUDGED, RunState.PLANNED}),
    RunState.JUDGED: frozenset[RunState](),
}
