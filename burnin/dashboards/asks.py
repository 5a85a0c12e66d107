"""What can be done to a job, and what its dialog says before it is done."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field

from burnin.dashboards.wording import number
from burnin.models import Job
from burnin.models.job import JobState
from burnin.selectors.limits import changed_since

NAMED = 3  # so many changed limits are named; of more, their number


@dataclass(frozen=True)
class Ask:
    """One act. `route` is its address, `says` what happens, `verb` the word on its button.

    `warns` is what is easily expected of it and wrong; "" if nothing is. `key` makes a form that
    is sent twice one act. `closed` says why it cannot be done now; "" when it can.
    The button of an act that `ends_something` is red.
    """

    ident: str
    route: str
    title: str
    says: str
    verb: str
    warns: str = ""
    closed: str = ""
    ends_something: bool = False
    key: str = field(default_factory=lambda: str(uuid.uuid4()))


def cancel_of(job: Job) -> Ask:
    return Ask(
        "cancel",
        "dashboards:cancel",
        f"Cancel the job on {_nodes(job)}",
        "What waits is skipped at once, what runs ends when Slurm has ended it. "
        "Results so far are kept.",
        "Cancel job",
        ends_something=True,
        closed="This job is done: nothing is left to cancel." if _is_done(job) else "",
    )


def reruns_of(job: Job) -> tuple[Ask, Ask]:
    """Return what repeats the failed, and what repeats the errored; both with the old bounds."""
    warns = _about_limits(job) if _is_done(job) else ""
    closed = "" if _is_done(job) else "This job is not done: wait for its end, or cancel it."
    failed = Ask(
        "rerun-failed",
        "dashboards:rerun-failed",
        "Re-run failed",
        "A new job repeats, on every node that failed or vanished, what it did not pass, "
        "with the same params and bounds. This job keeps its verdict.",
        "Re-run",
        warns,
        closed,
    )
    errored = Ask(
        "rerun-errored",
        "dashboards:rerun-errored",
        "Re-run errored",
        "A new job repeats, on every node where a test could not be measured, what it did not "
        "pass, with the same params and bounds. This job keeps its verdict.",
        "Re-run",
        warns,
        closed,
    )
    return failed, errored


def rerun_failed_of(job: Job) -> Ask:
    return reruns_of(job)[0]


def rerun_errored_of(job: Job) -> Ask:
    return reruns_of(job)[1]


def asks_of(job: Job) -> list[Ask]:
    return [cancel_of(job), *reruns_of(job)]


def _about_limits(job: Job) -> str:
    """Say which limits a repetition would not be judged by, because they are newer than the job."""
    changed = [f"{slug.partition('.')[2]} on {name}" for slug, name in changed_since(job)]
    if not changed:
        return ""
    more = f" and {len(changed) - NAMED} more" if len(changed) > NAMED else ""
    return (
        f"Limits have changed since this job was started: {', '.join(changed[:NAMED])}{more}. "
        "A re-run is judged by the old ones; a new job uses those in force."
    )


def _is_done(job: Job) -> bool:
    return job.state == JobState.DONE


def _nodes(job: Job) -> str:
    return f"{number(job.node_count)} node{'' if job.node_count == 1 else 's'}"
