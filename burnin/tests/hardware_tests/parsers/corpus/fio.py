from __future__ import annotations

from typing import Any

from burnin.hardware_tests.parsers.fio import FioJob, FioReport, FioTransfer
from burnin.hardware_tests.parsers.fio_text import FioTextReport

MIB = 1 << 20


def as_expected(report: FioReport | FioTextReport) -> dict[str, Any]:
    if isinstance(report, FioTextReport):
        return _text(report)
    return {
        "jobs": {job.name: _job(job) for job in report.jobs},
        "entries": len(report.jobs),
        "groups": [job.group_id for job in report.jobs],
        "verdict": "failed" if report.error else "ok",
        "error_code": report.error,
        "effective_iodepth": 1 if "queue depth will be capped at 1" in str(report.notes) else None,
    }


def _text(report: FioTextReport) -> dict[str, Any]:
    return {
        "err": report.jobs[0].error,
        **{
            f"{each.direction.lower()}_bw": f"{each.bytes_per_s / MIB:.0f}MiB/s"
            for each in report.sums
        },
    }


def _job(job: FioJob) -> dict[str, Any]:
    sides = {"read": job.read, "write": job.write}
    return {"error": job.error, **{name: _side(side) for name, side in sides.items() if side}}


def _side(side: FioTransfer) -> dict[str, Any]:
    assert side.p99_s is not None
    return {
        "bw_bytes_per_s": side.bytes_per_s,
        "bw_KiBps": side.bytes_per_s / 1024,
        "iops": side.iops,
        "io_bytes": side.io_bytes,
        "clat_p99_ns": side.p99_s * 1e9,
    }
