"""When Slurm has said its last word on a job, and what that word means."""

from burnin.slurm.states import Meaning, Outcome, outcome_of

LOST_STATE = "LOST"  # ours, not Slurm's: nobody knows the job any more
LOST = Outcome(
    Meaning.JUDGE, True, "infrastructure", "is no longer known to squeue, scontrol and sacct"
)


def ending_of(state: str, reason: str, *, source: str) -> Outcome:
    """Translate what Slurm shows. `source` tells a job that left the queue from one in it."""
    if state == LOST_STATE:
        return LOST
    return outcome_of(state, reason, source=source)
