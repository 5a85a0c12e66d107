"""fio 3 reports in JSON (`--output-format=json` or `json+`), also with notes before them.

A report whose jobs carry an error is a report: the caller decides what error 5, 28 or 84 means.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from burnin.hardware_tests.parsers import fio_words
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

    `error` is an errno, 0 for none. A direction that moved nothing is None.
    """

    name: str
    group_id: int
    error: int
    options: dict[str, str]
    read: FioTransfer | None
    write: FioTransfer | None
    trim: FioTransfer | None


@dataclass(frozen=True)
class FioReport:
    """The last complete report of the output; `notes` is what fio said outside of it."""

    version: str
    jobs: tuple[FioJob, ...]
    notes: tuple[str, ...]

    @property
    def error(self) -> int:
        """The first job error, 0 when every job ended well."""
        return next((job.error for job in self.jobs if job.error), 0)


class _Edge(BaseModel):
    model_config = ConfigDict(allow_inf_nan=False, frozen=True)


class _Latency(_Edge):
    mean: float = Field(ge=0)
    samples: int = Field(alias="N", ge=0)
    percentile: dict[str, float] = {}


class _Transfer(_Edge):
    io_bytes: int = Field(ge=0)
    bw_bytes: float = Field(ge=0)
    iops: float = Field(ge=0)
    runtime_ms: float = Field(alias="runtime", ge=0)
    total_ios: int = Field(ge=0)
    clat_ns: _Latency | None = None


class _Job(_Edge):
    jobname: str
    groupid: int
    error: int
    options: dict[str, str] = Field(alias="job options", default={})
    read: _Transfer
    write: _Transfer
    trim: _Transfer


class _Report(_Edge):
    version: str = Field(alias="fio version", pattern=r"^fio-\d")
    jobs: tuple[_Job, ...] = Field(min_length=1)


def parse(text: str) -> FioReport:
    """Return the last report in `text`; raise ParseError if there is none to be trusted."""
    outside, documents = _split(text)
    if not documents:
        raise fio_words.refusal_without_report(text)
    report = _validated(documents[-1])
    return FioReport(
        version=report.version,
        jobs=tuple(_job(job) for job in report.jobs),
        notes=tuple(line for line in outside.splitlines() if line.strip()),
    )


def _split(text: str) -> tuple[str, list[Any]]:
    """Part the text into what stands outside of JSON documents, and the documents."""
    outside, documents, position = "", [], 0
    for start in _openings(text):
        if start < position:
            continue
        outside += text[position:start]
        document, position = _decode(text, start)
        documents.append(document)
    return outside + text[position:], documents


def _openings(text: str) -> Iterator[int]:
    """Yield where a line starts with a brace: fio starts each report so, and indents the rest."""
    position = 0
    for line in text.splitlines(keepends=True):
        if line.startswith("{"):
            yield position
        position += len(line)


def _decode(text: str, start: int) -> tuple[Any, int]:
    decoder = json.JSONDecoder(parse_constant=_refuse_constant)
    try:
        return decoder.raw_decode(text, start)
    except json.JSONDecodeError as error:
        raise ParseError(
            f"fio's JSON report is cut or damaged at line {error.lineno}: {error.msg}",
            kind=RefusalKind.TRUNCATED,
        ) from None
    except (RecursionError, ValueError):
        words = "fio's JSON report is nested too deeply, or holds a number of too many digits"
        raise ParseError(words, kind=RefusalKind.MALFORMED) from None


def _refuse_constant(constant: str) -> NoReturn:
    raise ParseError(f"fio's report holds {constant}", kind=RefusalKind.MALFORMED)


def _validated(document: Any) -> _Report:
    _refuse_old_version(document)
    try:
        return _Report.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(step) for step in first["loc"])
        raise ParseError(
            f"fio's report has no usable {place}: {first['msg']}", kind=RefusalKind.MALFORMED
        ) from None


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
