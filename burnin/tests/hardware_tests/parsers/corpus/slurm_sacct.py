from __future__ import annotations

from typing import Any

from burnin.slurm.parse_sacct import SacctReport
from burnin.tests.hardware_tests.parsers.corpus.comparison import Whole


def as_expected(report: SacctReport) -> dict[str, Any]:
    jobs = report.jobs
    completed = [job for job in jobs if job.state == "COMPLETED"]
    return {
        "header_fields": len(report.columns),
        "physical_lines": report.physical_lines,
        "records": report.records,
        "jobs": Whole({job.job_id: job.state for job in jobs}),
        "succeeded": [job.job_id for job in jobs if job.succeeded],
        "completed_with_failed_step": [job.job_id for job in completed if job.has_failed_step],
        "nodes": {job.job_id: list(job.nodes) for job in jobs},
    }
