"""`sacct -P` with its header: jobs and their steps, records that span several lines.

A TIMEOUT job has exit code 0:0, and a COMPLETED one may have a failed step: no single column
says that a job succeeded.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from burnin.slurm import hostlist
from burnin.slurm.parse_words import count, cut, malformed, refuse_error
from burnin.slurm.states import full_name

_DELIMITER = re.compile(r"[A-Za-z]+([^A-Za-z0-9\n]+)[A-Za-z]")
_ID = re.compile(r"\d{1,12}(?:_(?:\d{1,12}|\[[^\]\n]*\]))?(?:\+\d{1,12})?(?:\.[A-Za-z0-9+]+)?")
_STEP = re.compile(r"(.+)\.([A-Za-z0-9+]+)")
_TELLING = frozenset({"State", "ExitCode", "DerivedExitCode", "NodeList", "Restarts"})


@dataclass(frozen=True)
class SacctStep:
    name: str
    state: str
    exit_code: str | None


@dataclass(frozen=True)
class SacctJob:
    """The newest record of one job (`-D` shows those of its earlier runs too), and its steps.

    Exit codes are Slurm's "exit:signal", None where they are not told. The state is None for
    steps whose job has no record of its own.
    """

    job_id: str
    raw_id: str
    state: str | None
    cancelled_by: str | None
    exit_code: str | None
    derived_exit_code: str | None
    nodes: tuple[str, ...]
    restarts: int | None
    steps: tuple[SacctStep, ...]

    @property
    def has_failed_step(self) -> bool:
        failed = any(step.state not in ("COMPLETED", "RUNNING", "PENDING") for step in self.steps)
        return failed or self.derived_exit_code not in (None, "0:0")

    @property
    def succeeded(self) -> bool:
        ended_well = self.state == "COMPLETED" and self.exit_code == "0:0"
        return ended_well and not self.has_failed_step


@dataclass(frozen=True)
class SacctReport:
    """`physical_lines` is more than the records and the header where a field holds a newline."""

    columns: tuple[str, ...]
    records: int
    physical_lines: int
    jobs: tuple[SacctJob, ...]


def parse(text: str) -> SacctReport:
    """Return every job; raise SlurmParseError without accounting, and on a record that is cut."""
    refuse_error(text, "sacct")
    header, *lines = text.removesuffix("\n").split("\n")
    if header == text:
        raise cut("sacct's header is cut")
    found = _DELIMITER.match(header)
    if found is None or "JobID" not in header:
        raise malformed(f"not a header of sacct: {header[:100]}")
    columns = header.split(found[1])
    # What ends without a newline may be cut in its last column.
    if not text.endswith("\n") and columns[-1] in _TELLING:
        raise cut("sacct's last record is cut")
    rows = [
        dict(zip(columns, fields, strict=True)) for fields in _records(lines, found[1], columns)
    ]
    return SacctReport(
        columns=tuple(columns),
        records=len(rows),
        physical_lines=len(lines) + 1,
        jobs=tuple(_jobs(rows)),
    )


def _records(lines: list[str], delimiter: str, columns: list[str]) -> list[list[str]]:
    """Put together the lines of each record: it is whole when it has all its separators."""
    records: list[list[str]] = []
    collected = ""
    for line in lines:
        collected = f"{collected}\n{line}" if collected else line
        fields = collected.split(delimiter)
        if len(fields) > len(columns):
            raise malformed(f"a field of sacct's record holds the separator: {collected[:100]}")
        if len(fields) == len(columns):
            records.append(fields)
            collected = ""
    if collected.strip():
        raise cut("sacct's last record is cut")
    return records


def _jobs(rows: list[dict[str, str]]) -> list[SacctJob]:
    jobs: dict[str, SacctJob] = {}
    for row in rows:
        # Some sites leave JobID empty; JobIDRaw differs from it for arrays only.
        shown = row.get("JobID") or row.get("JobIDRaw") or ""
        # After a newline in a last column, the rest of that field stands where an id should.
        if not _ID.fullmatch(shown):
            raise malformed(f"a record of sacct names no job: '{shown[:40]}'")
        step = _STEP.fullmatch(shown)
        if step is None:
            jobs[shown] = replace(_job(shown, row), steps=())
        else:
            owner = jobs.get(step[1]) or _without_record(step[1])
            jobs[step[1]] = replace(owner, steps=(*owner.steps, _step(step[2], row)))
    return list(jobs.values())


def _job(shown: str, row: dict[str, str]) -> SacctJob:
    where = f"sacct's job {shown[:40]}"
    word, _, by = row.get("State", "").partition(" by ")
    restarts = row.get("Restarts")
    return SacctJob(
        job_id=shown,
        raw_id=row.get("JobIDRaw", "") or shown,
        state=_state(word, where),
        cancelled_by=by or None,
        exit_code=row.get("ExitCode") or None,
        derived_exit_code=row.get("DerivedExitCode") or None,
        nodes=_nodes(row.get("NodeList", ""), where),
        restarts=count(restarts, f"{where}, Restarts") if restarts else None,
        steps=(),
    )


def _without_record(shown: str) -> SacctJob:
    return SacctJob(shown, shown, None, None, None, None, (), None, ())


def _step(name: str, row: dict[str, str]) -> SacctStep:
    word = row.get("State", "").partition(" by ")[0]
    return SacctStep(name, _state(word, f"sacct's step {name[:40]}"), row.get("ExitCode") or None)


def _state(word: str, where: str) -> str:
    if not re.fullmatch(r"[A-Z_]+\+?", word):
        raise malformed(f"{where} has no state: '{word[:40]}'")
    return full_name(word)


def _nodes(node_list: str, where: str) -> tuple[str, ...]:
    try:
        return tuple(hostlist.expand_allocation(node_list))
    except hostlist.BadHostList as error:
        raise malformed(f"{where}: {error}") from error
