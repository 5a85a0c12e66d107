"""What a run's page offers whoever has mended what made it fail."""

from __future__ import annotations

from dataclasses import dataclass

from burnin.models import TestRun
from burnin.models.job import JobState
from burnin.workflow.rerun import ERRORED, FAILED


@dataclass(frozen=True)
class RerunLink:
    """Repeats what the run's job did not pass. `route` is "" until the job is done."""

    word: str
    route: str


def rerun_of(run: TestRun) -> RerunLink | None:
    """Return the link for a run that did not pass; None for others."""
    for which, verdicts in (("failed", FAILED), ("errored", ERRORED)):
        if run.verdict in verdicts:
            is_done = run.job.state == JobState.DONE
            return RerunLink(which, f"dashboards:rerun-{which}" if is_done else "")
    return None
