"""The lines of an nccl-tests output, freed of what others wrote between and into them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from burnin.hardware_tests.parsers.nccl_report import NcclDevice
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind

_TAG = re.compile(r"^(?:\[\d+,\d+\]<std(?:out|err|diag)>: ?| *\d{1,6}: )")
# A message of NCCL's, which may begin inside a row; "N/A" before it belongs to the row.
_MESSAGE = re.compile(
    r"(?P<row>N/A)?(?:\[?\d{4}-\d\d-\d\d[ T][\d:.]+\]? )?"
    r"[A-Za-z][\w.-]{0,254}:\d+:\d+ \[\d+\].{0,300}?[NR]CCL (?P<level>INFO|WARN|TRACE|ABORT)\b.*"
)
_FAILURE = re.compile(
    r"Test (?:NCCL|CUDA) failure \S+:\d+ '.*|Test timeout \(.*|Test failure \S+:\d+.*"
)
_DEVICE = re.compile(
    r"#\s+Rank\s+(\d{1,6}) (?:Group\s+\d+ )?Pid\s+\d+ on\s+(\S+) device\s+(\d{1,4}) \[\S+\] (.*)"
)
_HEADER = re.compile(r"#\s+size\s+count\s+type\b.*")
_LAUNCHER = re.compile(
    r"not enough slots|mpirun|mpiexec|prterun|orted|srun: error|slurmstepd: error|"
    r"cannot open shared object|command not found|No such file or directory|"
    r"Invalid number of GPUs",
)


@dataclass(frozen=True)
class NcclLog:
    """`table` runs from the header on; `lines` are all lines without NCCL's own messages.

    Of those `warnings` are kept, and what is said for information only.
    """

    lines: tuple[str, ...]
    table: tuple[str, ...]
    table_count: int
    devices: tuple[NcclDevice, ...]
    warnings: tuple[str, ...]
    information: tuple[str, ...]
    failures: tuple[str, ...]

    @property
    def has_table(self) -> bool:
        return self.table_count > 0

    def refusal_without_table(self) -> ParseError:
        """Say why there may be no result table."""
        said = [line.strip() for line in self.lines if line.strip(" -#\t")]
        if not said:
            return ParseError("empty output: nccl-tests wrote nothing", kind=RefusalKind.NO_DATA)
        if any(
            line.startswith(("# nThread", "# nccl-tests", "# rccl-tests", "# Using"))
            for line in said
        ):
            return ParseError(
                "the nccl-tests output ends before its result table", kind=RefusalKind.TRUNCATED
            )
        launcher = next((line for line in said if _LAUNCHER.search(line)), None)
        if launcher is not None:
            return ParseError(
                f"the test did not start: {launcher:.200}", kind=RefusalKind.LAUNCH_ERROR
            )
        return ParseError(f"not an nccl-tests output: {said[-1]:.200}", kind=RefusalKind.MALFORMED)


def read_log(text: str) -> NcclLog:
    """Sort the lines of an output; nothing is refused here."""
    lines: list[str] = []
    messages: dict[str, list[str]] = {"WARN": [], "INFO": []}
    for raw in text.splitlines(keepends=True):
        if not raw.endswith("\n"):
            break  # cut: its numbers may lack digits
        line = _TAG.sub("", raw.rstrip("\r\n"))
        message = _MESSAGE.search(line)
        if message:
            if message["level"] in messages:
                said = message[0].removeprefix(message["row"] or "")
                messages[message["level"]].append(said)
            line = line[: message.start()] + (message["row"] or "")
        lines.append(line)
    headers = [index for index, line in enumerate(lines) if _HEADER.match(line)]
    return NcclLog(
        lines=tuple(lines),
        table=tuple(lines[headers[0] :]) if headers else (),
        table_count=len(headers),
        devices=tuple(
            NcclDevice(int(found[1]), found[2], int(found[3]), found[4].strip())
            for line in lines
            if (found := _DEVICE.match(line))
        ),
        warnings=tuple(messages["WARN"]),
        information=tuple(messages["INFO"]),
        failures=tuple(found[0] for line in lines if (found := _FAILURE.search(line))),
    )
