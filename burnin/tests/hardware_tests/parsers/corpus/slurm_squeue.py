from __future__ import annotations

from collections import Counter
from typing import Any

from burnin.slurm import parse_squeue
from burnin.slurm.parse_squeue import SqueueJob, SqueueReport
from burnin.tests.hardware_tests.parsers.corpus.comparison import Whole
from burnin.tests.hardware_tests.parsers.corpus.recordings import SHIPPED

# Taken seconds before the recording that shows a requeued job: no single look can show that.
EARLIER = SHIPPED / "slurm" / "squeue_default.txt"


def as_expected(report: SqueueReport) -> dict[str, Any]:
    jobs = report.jobs
    earlier = parse_squeue.parse(EARLIER.read_text())
    return {
        "jobs": len(jobs),
        "running": sum(job.state == "RUNNING" for job in jobs),
        "pending": sum(job.state == "PENDING" for job in jobs),
        "states": _states(report),
        "reasons": Whole({job.shown_id: job.reason for job in jobs if job.state == "PENDING"}),
        "failed": Whole({job.shown_id: job.reason for job in jobs if job.state == "FAILED"}),
        "requeued": list(report.requeued_since(earlier)),
        "never_startable": [job.shown_id for job in jobs if job.never_starts],
        "nodelists": {job.shown_id: list(job.nodes) for job in jobs},
        "array": {job.shown_id: _in_array(job, report.form) for job in jobs if job.array_task},
        "array_tasks": Whole({job.shown_id: job.printed_state for job in jobs if job.array_task}),
        "finished": [job.shown_id for job in jobs if job.has_finished],
        "exit_codes": Whole({job.shown_id: _ending(job) for job in jobs if _ending(job)}),
        "unlimited": [job.shown_id for job in jobs if job.has_no_time_limit],
    }


def _states(report: SqueueReport) -> dict[str, Any]:
    """Notes show states by job, lists of them for JSON, or how many jobs are in each."""
    if report.form == "json":
        return Whole({job.shown_id: [job.printed_state, *job.flags] for job in report.jobs})
    by_job = {job.shown_id: job.state for job in report.jobs}
    return {**by_job, **Counter(by_job.values())}


def _in_array(job: SqueueJob, form: str) -> Any:
    task = job.array_task
    number = int(task) if task and task.isdecimal() else task
    if form == "json":
        return [job.array_job_id, number]
    return {
        "job_id": job.job_id,
        "array_job_id": job.array_job_id,
        "task": number,
        "state": job.state,
    }


def _ending(job: SqueueJob) -> int | str | None:
    return f"signal {job.signal}" if job.signal else job.exit_code
