"""What fio, or IOR and mdtest, found of one file system that all nodes use at once."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from burnin.hardware_tests.artifacts import ArtifactCollector
from burnin.hardware_tests.evaluation import NotMeasured
from burnin.hardware_tests.parsers import fio, ior, mdtest
from burnin.hardware_tests.parsers.fio import FioJob, FioReport, FioTransfer
from burnin.hardware_tests.parsers.ior import IorReport
from burnin.hardware_tests.parsers.mdtest import MdtestReport
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind
from burnin.hardware_tests.single_node import storage_phases

# A handle goes stale when a file server forgets what it gave out; no local drive does that.
FAULTS = storage_phases.FAULTS | {errno.ESTALE}
_IOR_FAULTS = re.compile(r"Input/output error|Stale file handle|Remote I/O error", re.IGNORECASE)
_PHASES = {"fill": "write", "verify": "read", "write": "write", "read": "read"}
Report = TypeVar("Report", IorReport, MdtestReport)


@dataclass(frozen=True)
class Findings:
    """Sums over all nodes. None where nobody measured it, or a fault broke it off."""

    tool: str
    faults: tuple[str, ...]
    write_bytes_per_s: float | None
    read_bytes_per_s: float | None
    shared_write_bytes_per_s: float | None = None
    shared_read_bytes_per_s: float | None = None
    creates_per_s: float | None = None
    slowest_writer: str = ""
    slowest_reader: str = ""


def read_findings(artifact_collector: ArtifactCollector) -> Findings:
    """Read the reports of the tool that tool.txt names."""
    tool = artifact_collector.get_custom_file("tool.txt").read_text().strip()
    readers = {"fio": _read_fio, "ior": _read_ior}
    if tool not in readers:
        raise NotMeasured(f"tool.txt names {tool!r:.40}, not fio or ior")
    return readers[tool](artifact_collector)


@dataclass(frozen=True)
class _Phase:
    """A node that met a fault has no transfer; the sum is None where one has."""

    faults: tuple[str, ...]
    transfers: dict[str, FioTransfer]
    total: FioTransfer | None
    version: str

    @property
    def bytes_per_s(self) -> float | None:
        return self.total.bytes_per_s if self.total else None

    @property
    def moved_bytes(self) -> int:
        return self.total.io_bytes if self.total else 0

    @property
    def slowest(self) -> str:
        if not self.transfers:
            return ""
        node = min(self.transfers, key=lambda each: self.transfers[each].bytes_per_s)
        return f"{node} {self.transfers[node].bytes_per_s / 1e9:.3g}"


def _read_fio(artifact_collector: ArtifactCollector) -> Findings:
    node_names = artifact_collector.metadata.node_names
    phases = {
        name: _phase(
            name, artifact_collector.get_custom_file(f"fio-{name}.json").read_text(), node_names
        )
        for name in _PHASES
    }
    faults = tuple(fault for phase in phases.values() for fault in phase.faults)
    fill, verify = phases["fill"], phases["verify"]
    if not faults and verify.moved_bytes != fill.moved_bytes:
        raise NotMeasured(f"fio verified {verify.moved_bytes} bytes of {fill.moved_bytes} written")
    return Findings(
        tool=fill.version,
        faults=faults,
        write_bytes_per_s=phases["write"].bytes_per_s,
        read_bytes_per_s=phases["read"].bytes_per_s,
        slowest_writer=phases["write"].slowest,
        slowest_reader=phases["read"].slowest,
    )


def _phase(name: str, text: str, node_names: Sequence[str]) -> _Phase:
    try:
        report = fio.parse(text)
    except ParseError as error:
        raise ParseError(f"fio-{name}.json: {error.reason}", kind=error.kind) from None
    jobs = {job.name: job for job in report.jobs}
    if sorted(job.name for job in report.jobs) != sorted(node_names) or not report.all_clients:
        raise NotMeasured(f"fio's {name} phase ran on {', '.join(jobs)}, not once on each node")
    faults = tuple(_fault(name, job, report) for job in jobs.values() if job.error)
    return _Phase(
        faults=faults,
        # The first thing that a node read may have been the fault: then it moved nothing.
        transfers={node: _transfer(name, job) for node, job in jobs.items() if not job.error},
        total=None if faults else _transfer(name, report.all_clients),
        version=report.version,
    )


def _fault(phase: str, job: FioJob, report: FioReport) -> str:
    """Say what a node met, and in whose file. Raises NotMeasured if fio could not do its work."""
    meaning = "data came back changed" if job.error == errno.EILSEQ else os.strerror(job.error)
    if job.error not in FAULTS:
        raise NotMeasured(f"fio could not {phase} on {job.name}: error {job.error}, {meaning}")
    file = job.options.get("filename", "?")
    place = f"in {job.name}'s own file" if file == job.name else f"in what {file} wrote"
    note = next((note for note in report.notes if f"file {file} offset " in note), "")
    words = f": {note.partition('> ')[2].strip()}" if note else ""
    return f"{phase}: {job.name} met error {job.error}, {meaning}, {place}{words}"


def _transfer(phase: str, job: FioJob) -> FioTransfer:
    transfer = job.write if _PHASES[phase] == "write" else job.read
    if transfer is None or not transfer.io_bytes or not transfer.bytes_per_s:
        raise NotMeasured(f"{job.name} moved nothing in fio's {phase} phase")
    return transfer


def _read_ior(artifact_collector: ArtifactCollector) -> Findings:
    faults: list[str] = []

    def read(name: str, parse: Callable[[str], Report]) -> Report | None:
        text = artifact_collector.get_custom_file(f"{name}.txt").read_text()
        return _unless_broken_off(name, text, parse, faults)

    easy, hard = read("ior-easy", ior.parse), read("ior-hard", ior.parse)
    many = read("mdtest", mdtest.parse)
    for name, report in (("ior-easy", easy), ("ior-hard", hard)):
        if report is not None:
            faults.extend(_wrong_data(name, report))
    return Findings(
        tool=f"mdtest {many.version}" if many else "",
        faults=tuple(faults),
        write_bytes_per_s=_speed(easy, "write"),
        read_bytes_per_s=_speed(easy, "read"),
        shared_write_bytes_per_s=_speed(hard, "write"),
        shared_read_bytes_per_s=_speed(hard, "read"),
        creates_per_s=many.of("File creation").mean_per_s if many else None,
    )


def _unless_broken_off(
    name: str, text: str, parse: Callable[[str], Report], faults: list[str]
) -> Report | None:
    """Return the report, or None after noting the I/O error that broke the tool off."""
    try:
        return parse(text)
    except ParseError as error:
        if error.kind is not RefusalKind.IO_ERROR or not _IOR_FAULTS.search(error.reason):
            raise ParseError(f"{name}.txt: {error.reason}", kind=error.kind) from None
        faults.append(f"{name}: {error.reason}")
        return None


def _wrong_data(name: str, report: IorReport) -> list[str]:
    if not report.checks_data:
        raise NotMeasured(f"{name} did not compare what it read (-R)")
    if report.data_errors is None:
        return [f"{name}: more wrong data than IOR can count"]
    return [f"{name}: {report.data_errors} pieces of wrong data"] if report.data_errors else []


def _speed(report: IorReport | None, operation: str) -> float | None:
    return report.of(operation).mean_bytes_per_s if report else None
