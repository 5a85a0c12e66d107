"""When Slurm has said its last word on a job, and what that word means."""

from dataclasses import replace

from burnin.slurm.states import Meaning, Outcome, outcome_of

LOST_STATE = "LOST"  # ours, not Slurm's: nobody knows the job any more
LOST = Outcome(
    Meaning.JUDGE, True, "infrastructure", "is no longer known to squeue, scontrol and sacct"
)


def ending_of(state: str, reason: str, *, source: str) -> Outcome:
    """Translate what Slurm shows. `source` tells a job that left the queue from one in it."""
    if state == LOST_STATE:
        return LOST
    outcome = outcome_of(state, reason)
    # A preempted job may come back under its id, until only accounting remembers it.
    is_gone = source == "sacct" and outcome.meaning is Meaning.ERRORED
    return replace(outcome, final=True) if is_gone else outcome
