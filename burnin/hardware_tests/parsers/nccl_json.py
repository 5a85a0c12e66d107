"""nccl-tests' JSON report. Booleans are the words "true" and "false", NaN is the word "nan"."""

from __future__ import annotations

from pydantic import Field

from burnin.hardware_tests.parsers import json_report
from burnin.hardware_tests.parsers.nccl_report import (
    NcclDevice,
    NcclReport,
    NcclRow,
    NcclTransfer,
    Verdict,
)
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind

_VERDICTS = {"true": Verdict.OK, "false": Verdict.FAILED, "unchecked": Verdict.UNCHECKED}


class _Transfer(json_report.Edge):
    time: float | None = Field(default=None, ge=0)
    cpu_time: float | None = Field(default=None, ge=0)
    alg_bw: float = Field(ge=0)
    bus_bw: float = Field(ge=0)
    nwrong: float | None = Field(ge=0)


class _Row(json_report.Edge):
    size: int = Field(ge=0)
    count: int = Field(ge=0)
    type: str
    redop: str
    root: int
    out_of_place: _Transfer | None = None
    in_place: _Transfer | None = None


class _Device(json_report.Edge):
    rank: int = Field(ge=0)
    hostname: str
    device: int = Field(ge=0)
    device_info: str


class _Config(json_report.Edge):
    maximum_bytes: int = Field(ge=0)
    devices: tuple[_Device, ...] = ()


class _Bounds(json_report.Edge):
    count: int = Field(ge=0)
    okay: str


class _Average(json_report.Edge):
    bandwidth: float = Field(ge=0)
    okay: str


class _Document(json_report.Edge):
    nccl_version: int | None = None
    config: _Config
    results: tuple[_Row, ...]
    out_of_bounds: _Bounds
    average_bus_bandwidth: _Average
    errors: tuple[str | None, ...] = ()


def parse(text: str) -> NcclReport:
    """Return the report; a run that died may have closed its document early: it is truncated."""
    found = json_report.only(text, tool="nccl-tests")
    missing = [
        key for key in ("results", "out_of_bounds", "average_bus_bandwidth") if key not in found
    ]
    if missing:
        raise ParseError(
            f"nccl-tests' JSON report ends before '{missing[0]}'", kind=RefusalKind.TRUNCATED
        )
    document = json_report.validated(_Document, found, tool="nccl-tests")
    version = document.nccl_version
    return NcclReport(
        format="json",
        version=None,
        library_version=None if version is None else str(version),
        devices=tuple(
            NcclDevice(each.rank, each.hostname, each.device, each.device_info)
            for each in document.config.devices
        ),
        requested_max_bytes=document.config.maximum_bytes,
        is_reduced=False,
        rows=tuple(_row(each) for each in document.results),
        out_of_bounds=document.out_of_bounds.count,
        out_of_bounds_verdict=_verdict(document.out_of_bounds.okay),
        average_bus_bandwidth_gb_per_s=document.average_bus_bandwidth.bandwidth,
        average_verdict=_verdict(document.average_bus_bandwidth.okay),
        warnings=tuple(error for error in document.errors if error),
    )


def _verdict(word: str) -> Verdict:
    if word not in _VERDICTS:
        raise ParseError(f"nccl-tests says okay: '{word:.40}'", kind=RefusalKind.MALFORMED)
    return _VERDICTS[word]


def _row(row: _Row) -> NcclRow:
    return NcclRow(
        size_bytes=row.size,
        count=row.count,
        type=row.type,
        operation=row.redop,
        root=row.root,
        counts_wrong_values=True,
        out_of_place=_transfer(row.out_of_place),
        in_place=_transfer(row.in_place),
    )


def _transfer(half: _Transfer | None) -> NcclTransfer | None:
    if half is None:
        return None
    time_us = half.cpu_time if half.time is None else half.time
    if time_us is None:
        raise ParseError("a result of nccl-tests has no time", kind=RefusalKind.MALFORMED)
    return NcclTransfer(
        time_us=time_us,
        algorithm_bandwidth_gb_per_s=half.alg_bw,
        bus_bandwidth_gb_per_s=half.bus_bw,
        wrong=half.nwrong,
    )
