"""What one fio report says of the storage under it: a speed, a fault, or nothing to trust."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass

from burnin.hardware_tests.evaluation import NotMeasured
from burnin.hardware_tests.parsers import fio
from burnin.hardware_tests.parsers.fio import FioJob, FioReport, FioTransfer
from burnin.hardware_tests.parsers.refusal import ParseError

# What the kernel makes of a drive that answers badly, and fio of data that came back changed
# (EILSEQ). Every other error is ours: no space, no permission, no such file, no direct I/O.
FAULTS = frozenset(
    {errno.EIO, errno.EILSEQ, errno.ENODATA, errno.EREMOTEIO, errno.ETIMEDOUT, errno.ENOLINK}
)


@dataclass(frozen=True)
class Phase:
    """`transfer` is None if and only if there is a fault: a broken-off speed is no speed."""

    name: str
    transfer: FioTransfer | None
    fault: str

    @property
    def p99_s(self) -> float:
        """The 99th percentile of the completion latency. Raises NotMeasured where fio gave none."""
        if self.transfer is None or self.transfer.p99_s is None:
            raise NotMeasured(f"fio's {self.name} report has no 99th percentile")
        return self.transfer.p99_s


def read_phase(name: str, text: str) -> Phase:
    """Read the phase's report, which holds one job (or the sum of several).

    Raises NotMeasured if fio could not do its work, ParseError if the report cannot be read.
    """
    report = _parsed(name, text)
    if len(report.jobs) != 1:
        raise NotMeasured(f"fio's {name} report has {len(report.jobs)} jobs, needs exactly one")
    job = report.jobs[0]
    if job.error in FAULTS:
        return Phase(name, None, _fault(name, job, report))
    if job.error:
        raise NotMeasured(f"fio could not {name}: error {job.error}, {os.strerror(job.error)}")
    return Phase(name, _transfer(name, job), "")


def _parsed(name: str, text: str) -> FioReport:
    try:
        return fio.parse(text)
    except ParseError as error:
        raise ParseError(f"fio-{name}.json: {error.reason}", kind=error.kind) from None


def _fault(name: str, job: FioJob, report: FioReport) -> str:
    """Say it in fio's own words where it left them in the report."""
    words = next((note for note in report.notes if "verify" in note or "io_u error" in note), "")
    meaning = "data came back changed" if job.error == errno.EILSEQ else os.strerror(job.error)
    return f"{name}: error {job.error}, {meaning}" + (f": {words.strip()}" if words else "")


def _transfer(name: str, job: FioJob) -> FioTransfer:
    transfer = job.write if name == "write" else job.read
    if transfer is None or not transfer.total_ios or not transfer.io_bytes:
        raise NotMeasured(f"fio moved nothing in its {name} phase, though it reports no error")
    if not transfer.bytes_per_s or not transfer.runtime_s:
        raise NotMeasured(f"fio's {name} phase took no time: its speed means nothing")
    return transfer
