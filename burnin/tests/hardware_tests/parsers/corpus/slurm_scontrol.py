from __future__ import annotations

from typing import Any

from burnin.slurm.parse_scontrol import ShownJob, ShownNodes
from burnin.tests.hardware_tests.parsers.corpus.comparison import Whole


def job_as_expected(job: ShownJob) -> dict[str, Any]:
    return {
        "job_id": job.job_id,
        "state": job.state,
        "reason": job.reason,
        "exit_code": job.exit_code,
        "nodes": list(job.nodes),
        "restarts": job.restarts,
        "requeue": job.may_requeue,
        "success": job.succeeded,
    }


def nodes_as_expected(shown: ShownNodes) -> dict[str, Any]:
    return {
        "nodes": len(shown.nodes),
        "drain": [node.name for node in shown.nodes if "DRAIN" in node.flags],
        "down": [node.name for node in shown.nodes if node.state == "DOWN"],
        "reasons": Whole(shown.reasons),
    }
