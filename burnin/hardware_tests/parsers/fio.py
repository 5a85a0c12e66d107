"""fio 3 reports in JSON (`--output-format=json` or `json+`), also with notes before them.

A report of `fio --client` is one too: its jobs name their host, and fio's sum stands apart.
A report whose jobs carry an error is a report: the caller decides what error 5, 28 or 84 means.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import AliasChoices, Field

from burnin.hardware_tests.parsers import fio_words, json_report
from burnin.hardware_tests.parsers.json_report import Edge
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind


@dataclass(frozen=True)
class FioTransfer:
    """One direction of one job. Latencies are completion latencies; None where fio gave none."""

    bytes_per_s: float
    iops: float
    io_bytes: int
    total_ios: int
    runtime_s: float
    mean_latency_s: float | None
    p99_s: float | None


@dataclass(frozen=True)
class FioJob:
    """One entry of the report: a job, or the sum of a group under group_reporting.

    `error` is an errno, 0 for none. A direction that moved nothing is None. `host` is the server
    that ran the job, None where fio ran it itself.
    """

    name: str
    host: str | None
    group_id: int
    error: int
    options: dict[str, str]
    read: FioTransfer | None
    write: FioTransfer | None
    trim: FioTransfer | None


@dataclass(frozen=True)
class FioReport:
    """The last complete report of the output; `notes` is what fio said outside of it.

    `all_clients` is fio's own sum over several servers, None where there is none.
    """

    version: str
    jobs: tuple[FioJob, ...]
    all_clients: FioJob | None
    notes: tuple[str, ...]

    @property
    def error(self) -> int:
        """The first job error, 0 when every job ended well."""
        return next((job.error for job in self.jobs if job.error), 0)


class _Latency(Edge):
    mean: float = Field(ge=0)
    samples: int = Field(alias="N", ge=0)
    percentile: dict[str, float] = Field(default={})


class _Transfer(Edge):
    io_bytes: int = Field(ge=0)
    bw_bytes: float = Field(ge=0)
    iops: float = Field(ge=0)
    runtime_ms: float = Field(alias="runtime", ge=0)
    total_ios: int = Field(ge=0)
    clat_ns: _Latency | None = None


class _Job(Edge):
    jobname: str
    hostname: str | None = None
    groupid: int
    error: int
    options: dict[str, str] = Field(alias="job options", default={})
    read: _Transfer
    write: _Transfer
    trim: _Transfer


class _Report(Edge):
    version: str = Field(alias="fio version", pattern=r"^fio-\d")
    jobs: tuple[_Job, ...] = Field(
        validation_alias=AliasChoices("jobs", "client_stats"), min_length=1
    )


def parse(text: str) -> FioReport:
    """Return the last report in `text`; raise ParseError if there is none to be trusted."""
    outside, documents = json_report.split(text, tool="fio")
    if not documents:
        raise fio_words.refusal_without_report(text)
    _refuse_old_version(documents[-1])
    report = json_report.validated(_Report, documents[-1], tool="fio")
    sums = [job for job in report.jobs if _is_sum(job)]
    return FioReport(
        version=report.version,
        jobs=tuple(_job(job) for job in report.jobs if job not in sums),
        all_clients=_job(sums[0]) if sums else None,
        notes=tuple(line for line in outside.splitlines() if line.strip()),
    )


def _is_sum(job: _Job) -> bool:
    return job.hostname is not None and job.jobname == "All clients"


def _refuse_old_version(document: dict[str, Any]) -> None:
    version = str(document.get("fio version", ""))
    if version.startswith(("fio-1.", "fio-2.")):
        raise ParseError(
            f"{version} reports other units than fio 3; install fio 3 on the node",
            kind=RefusalKind.UNSUPPORTED_VERSION,
        )


def _job(job: _Job) -> FioJob:
    return FioJob(
        name=job.jobname,
        host=job.hostname,
        group_id=job.groupid,
        error=job.error,
        options=job.options,
        read=_transfer(job.read),
        write=_transfer(job.write),
        trim=_transfer(job.trim),
    )


def _transfer(transfer: _Transfer) -> FioTransfer | None:
    if not transfer.io_bytes and not transfer.total_ios:
        return None
    latency = transfer.clat_ns if transfer.clat_ns and transfer.clat_ns.samples else None
    p99_ns = latency.percentile.get("99.000000") if latency else None
    return FioTransfer(
        bytes_per_s=transfer.bw_bytes,
        iops=transfer.iops,
        io_bytes=transfer.io_bytes,
        total_ios=transfer.total_ios,
        runtime_s=transfer.runtime_ms / 1e3,
        mean_latency_s=latency.mean / 1e9 if latency else None,
        p99_s=None if p99_ns is None else p99_ns / 1e9,
    )
