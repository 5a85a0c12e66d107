"""squeue's own tables, its `-o` rows with a separator, and its JSON.

The tables cut names and states to their column; arrays are shown as "17_3" or "17_[5-6%2]".
A job that is not shown did not therefore succeed: it may be purged.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from burnin.slurm import hostlist, parse_json
from burnin.slurm.parse_words import count, cut, malformed, refuse_cut, refuse_error
from burnin.slurm.states import full_name, has_ended, never_starts

_DATE = re.compile(r"[A-Z][a-z]{2} [A-Z][a-z]{2} +\d+ [\d:]{8} \d{4}")
_TIME = r"[\d:-]+|UNLIMITED|INVALID|NOT_SET|Partition_Limit"
_COLUMNS = {
    "JOBID": ("id", r"\S+"),
    "PARTITION": ("partition", r"\S+"),
    "NAME": ("name", r".*?"),
    "USER": ("user", r"\S+"),
    "ST": ("state", r"[A-Z_]+\+?"),
    "STATE": ("state", r"[A-Z_]+\+?"),
    "TIME": ("time", _TIME),
    "TIME_LIMI": ("limit", _TIME),
    "TIME_LIMIT": ("limit", _TIME),
    "NODES": ("nodes", r"\d+"),
    "NODELIST(REASON)": ("where", r".*"),
}
_SHOWN_ID = re.compile(r"(\d{1,12})(?:_(?:(\d{1,12})|\[([^\]]+)\]))?")
_ROW_COLUMNS = 9  # of -o "%i|%A|%F|%K|%j|%T|%r|%N|%C"


@dataclass(frozen=True)
class SqueueJob:
    """One row. `shown_id` is squeue's, `job_id` Slurm's own number, None where it does not tell.

    `array_task` is one task's number or, for tasks that wait together, their list: "5-6%2".
    `state` is the full name of `printed_state`; `flags` are further states that hold as well.
    `reason` is empty where the row does not tell; `exit_code` and `signal` only JSON tells.
    """

    shown_id: str
    job_id: int | None
    array_job_id: int | None
    array_task: str | None
    name: str | None
    partition: str | None
    printed_state: str
    state: str
    flags: tuple[str, ...]
    reason: str
    nodes: tuple[str, ...]
    restarts: int | None = None
    has_no_time_limit: bool | None = None
    exit_code: int | None = None
    signal: int | None = None

    @property
    def has_finished(self) -> bool:
        """Say whether the job is over and its nodes are free again."""
        words = (self.state, *self.flags)
        return all(has_ended(word) for word in words) and "COMPLETING" not in words

    @property
    def never_starts(self) -> bool:
        return self.state == "PENDING" and never_starts(self.reason) is not None


@dataclass(frozen=True)
class SqueueReport:
    """`form` is "table", "rows" or "json"."""

    form: str
    jobs: tuple[SqueueJob, ...]

    def requeued_since(self, earlier: SqueueReport) -> tuple[str, ...]:
        """Return the jobs that ran in an earlier report and wait in this one."""
        ran = {job.shown_id for job in earlier.jobs if job.state == "RUNNING"}
        return tuple(
            job.shown_id for job in self.jobs if job.state == "PENDING" and job.shown_id in ran
        )


def parse(text: str) -> SqueueReport:
    """Return every job; raise SlurmParseError on an error message and on what is cut."""
    refuse_error(text, "squeue")
    if text.lstrip().startswith("{"):
        return SqueueReport("json", _json_jobs(text))
    refuse_cut(text, "squeue")
    lines = [line for line in text.splitlines() if line.strip()]
    if _DATE.fullmatch(lines[0]):
        lines = lines[1:]
    if not lines:
        raise cut("squeue's output stops before its header")
    if lines[0].split()[0] == "JOBID":
        form = _row_form(lines[0])
        return SqueueReport("table", tuple(_table_job(line, form) for line in lines[1:]))
    return SqueueReport("rows", tuple(_row_job(line) for line in lines))


def _row_form(header: str) -> re.Pattern[str]:
    """Build what a row of this table looks like; only NAME and the last column hold blanks."""
    columns = header.split()
    unknown = [column for column in columns if column not in _COLUMNS]
    if unknown or not {"JOBID", "NODELIST(REASON)"} <= set(columns):
        raise malformed(f"squeue's table has unknown columns: {header.strip()[:100]}")
    parts = [f"(?P<{_COLUMNS[name][0]}>{_COLUMNS[name][1]})" for name in columns]
    return re.compile(r"\s*" + r"\s+".join(parts[:-1]) + r"\s+" + parts[-1])


def _table_job(line: str, form: re.Pattern[str]) -> SqueueJob:
    found = form.fullmatch(line)
    if found is None:
        raise malformed(f"squeue's row does not fit its header: {line.strip()[:100]}")
    row = found.groupdict()
    where = row["where"].strip()
    in_brackets = where.startswith("(") and where.endswith(")")
    return _job(
        row["id"],
        name=row.get("name"),
        partition=row.get("partition"),
        printed_state=row.get("state", ""),
        reason=where[1:-1] if in_brackets else "",
        node_list="" if in_brackets else where,
    )


def _row_job(line: str) -> SqueueJob:
    """Read a row of "%i|%A|%F|%K|%j|%T|%r|%N|%C", whose name may hold a bar, or of "%i,%T"."""
    fields = line.split("|")
    if len(fields) >= _ROW_COLUMNS:
        shown_id, job_id, array_job_id, task = fields[:4]
        state, reason, node_list, _ = fields[-4:]
        return _job(
            shown_id,
            job_id=count(job_id, "squeue's job id"),
            array_job_id=count(array_job_id, "squeue's array job id"),
            task=task,
            name="|".join(fields[4:-4]),
            printed_state=state,
            reason=reason,
            node_list=node_list,
        )
    shown_id, separator, state = line.partition(",")
    if not separator or "," in state:
        raise malformed(f"squeue's row is in no form we ask for: {line[:100]}")
    return _job(shown_id, printed_state=state)


def _job(
    shown_id: str, *, printed_state: str, job_id: int | None = None,
    array_job_id: int | None = None, task: str | None = None, name: str | None = None,
    partition: str | None = None, reason: str = "", node_list: str = "",
) -> SqueueJob:  # fmt: skip
    found = _SHOWN_ID.fullmatch(shown_id)
    if found is None or not re.fullmatch(r"[A-Z_]+\+?", printed_state):
        raise malformed(
            f"squeue's row has no job id or state: {shown_id[:40]} {printed_state[:40]}"
        )
    first, one_task, tasks = found.groups()
    in_array = one_task is not None or tasks is not None
    return SqueueJob(
        shown_id=shown_id,
        # A task of an array has a number of its own, which the table does not show.
        job_id=job_id if job_id is not None or in_array else int(first),
        array_job_id=array_job_id if array_job_id is not None else int(first) if in_array else None,
        array_task=task if task not in (None, "N/A") else one_task or tasks,
        name=name,
        partition=partition,
        printed_state=printed_state,
        state=full_name(printed_state),
        flags=(),
        reason=_reason(reason),
        nodes=_nodes(node_list),
    )


def _reason(word: str) -> str:
    return "" if word == "None" else word


def _nodes(node_list: str) -> tuple[str, ...]:
    try:
        return tuple(hostlist.expand_allocation(node_list))
    except hostlist.BadHostList as error:
        raise malformed(f"squeue: {error}") from error


def _json_jobs(text: str) -> tuple[SqueueJob, ...]:
    found = parse_json.document(text, "squeue")
    return tuple(_json_job(job) for job in parse_json.records(found, "jobs", "squeue"))


def _json_job(job: dict[str, Any]) -> SqueueJob:
    job_id = parse_json.whole(job.get("job_id"), "squeue's job_id")
    where = f"squeue's job {job_id}"
    state, *flags = parse_json.words(job.get("job_state"), where)
    array_job_id = parse_json.whole(job.get("array_job_id", 0), f"{where}, array_job_id") or None
    task = parse_json.whole(job.get("array_task_id", {}), f"{where}, array_task_id")
    exit_code, signal = _exit_code(job.get("exit_code"), where)
    return SqueueJob(
        shown_id=str(job_id),
        job_id=job_id,
        array_job_id=array_job_id,
        array_task=None if task is None or array_job_id is None else str(task),
        name=parse_json.text(job, "name", where),
        partition=job.get("partition"),
        printed_state=state,
        state=full_name(state),
        flags=tuple(flags),
        reason=_reason(str(job.get("state_reason", ""))),
        nodes=_nodes(parse_json.text(job, "nodes", where)),
        restarts=parse_json.whole(job.get("restart_cnt", {}), f"{where}, restart_cnt"),
        has_no_time_limit=parse_json.is_infinite(job.get("time_limit")),
        exit_code=exit_code,
        signal=signal,
    )


def _exit_code(value: Any, where: str) -> tuple[int | None, int | None]:
    """Return exit code and signal; None for what did not end the job, or is not told."""
    if not isinstance(value, dict):
        return None, None
    returned = parse_json.whole(value.get("return_code", {}), f"{where}, return_code")
    signal = value.get("signal")
    number = signal.get("id", {}) if isinstance(signal, dict) else {}
    return returned, parse_json.whole(number, f"{where}, signal")
