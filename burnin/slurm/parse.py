"""What Slurm's commands print, as values. Pure; a text that cannot be read is an error."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import zip_longest

from burnin.slurm import commands
from burnin.slurm.cluster import ClusterFacts, ClusterUnreachable, JobSnapshot, Node, Partition
from burnin.slurm.states import has_ended
from runner.contract.wire import AttemptToken

_KEY = re.compile(r"(?:^|\s)([A-Za-z][A-Za-z0-9_:/.-]*)=")
_DURATION = re.compile(r"(?:(?:(\d+)-)?(\d+):)?(\d+):(\d+)")
NUL = "\0"  # in no text of Slurm's: its strings end at one
UNLIMITED = frozenset({"UNLIMITED", "INFINITE", "NONE"})


class UnreadableOutput(ClusterUnreachable):
    """Slurm printed something that cannot be read: nothing was learned."""


def _refuse_cut(text: str, what: str) -> None:
    if text and not text.endswith("\n"):
        raise UnreadableOutput(f"{what} was cut off")


def squeue(text: str, *, mark: str, user: str) -> Mapping[AttemptToken, Sequence[JobSnapshot]]:
    """Return this user's jobs that carry one of our tokens, several per token if it is so.

    A text that says what the one before said gets the same answer, whatever its mark.
    """
    _refuse_cut(text, "squeue's output")
    return _squeue_jobs(text.replace(NUL, "").replace(f"|{mark}|", NUL), user)


@lru_cache(maxsize=1)
def _squeue_jobs(marked: str, user: str) -> Mapping[AttemptToken, Sequence[JobSnapshot]]:
    found: dict[AttemptToken, list[JobSnapshot]] = {}
    for line in marked.splitlines():
        job_id, has_mark, rest = line.partition(NUL)
        if not has_mark or not job_id.isdecimal():
            continue  # text of someone's comment that holds a newline
        snapshot = _squeue_job(job_id, rest, user)
        if snapshot is not None:
            found.setdefault(snapshot.token, []).append(snapshot)
    return found


@lru_cache(maxsize=1 << 15)  # most of 10,000 lines are those of the look before
def _squeue_job(job_id: str, rest: str, user: str) -> JobSnapshot | None:
    fields = rest.split("|", len(commands.SQUEUE_FIELDS) - 2)
    if len(fields) != len(commands.SQUEUE_FIELDS) - 1:
        raise UnreadableOutput(f"squeue's line for job {job_id} is incomplete")
    state, exit_code, derived, node_list, owner, reason, comment = fields
    token = AttemptToken.parse(comment.strip())
    if owner != user or token is None:
        return None
    return JobSnapshot(
        job_id=job_id,
        state=state,
        reason=reason,
        node_list=node_list,
        token=token,
        exit_code=exit_status(exit_code) if has_ended(state) else None,
        derived_exit_code=exit_status(derived) if has_ended(state) else None,
        source="squeue",
    )


def exit_status(text: str) -> str | None:
    """Return "exit:signal". Slurm 22.05's squeue prints the wait status, as one number."""
    if re.fullmatch(r"\d+:\d+", text):
        return text
    if not text.isdecimal():
        return None
    return f"{int(text) >> 8 & 0xFF}:{int(text) & 0x7F}"


def records(text: str) -> Iterator[dict[str, str]]:
    """Read `scontrol -o show …`: one record a line, KEY=value with spaces in the values."""
    for line in text.splitlines():
        if "=" in line:
            yield record(line)


def record(text: str) -> dict[str, str]:
    """Read one `scontrol show` record; the first of a repeated key counts."""
    found: dict[str, str] = {}
    keys = list(_KEY.finditer(text))
    for key, following in zip_longest(keys, keys[1:]):
        end = following.start() if following else len(text)
        found.setdefault(key[1], text[key.end() : end].strip())
    return found


def shown_jobs(text: str, jobs: Mapping[str, AttemptToken], *, user: str) -> dict[str, JobSnapshot]:
    """Read `scontrol -o show job`: those of `jobs` that are this user's and have their token.

    An id that stands there twice is left out: a newline in somebody's comment makes a line too.
    """
    _refuse_cut(text, "scontrol's list of jobs")
    shown = [each for each in records(text) if each.get("JobId") in jobs]
    times = Counter(each["JobId"] for each in shown)
    found = (_shown_job(each, jobs[each["JobId"]], user) for each in shown)
    return {job.job_id: job for job in found if job is not None and times[job.job_id] == 1}


def _shown_job(job: Mapping[str, str], token: AttemptToken, user: str) -> JobSnapshot | None:
    state = job.get("JobState")
    if state is None:
        raise UnreadableOutput(f"scontrol does not tell the state of job {job['JobId']}")
    has_token = token.comment == job.get("Comment") or token.job_name == job.get("JobName")
    if not has_token or not job.get("UserId", "").startswith(f"{user}("):
        return None
    return JobSnapshot(
        job_id=job["JobId"],
        state=state,
        reason=job.get("Reason", ""),
        node_list=job.get("NodeList", ""),
        token=token,
        exit_code=exit_status(job.get("ExitCode", "")) if has_ended(state) else None,
        derived_exit_code=exit_status(job.get("DerivedExitCode", "")) if has_ended(state) else None,
        source="scontrol",
    )


def sacct(text: str, *, jobs: Mapping[str, AttemptToken], user: str) -> dict[str, JobSnapshot]:
    """Return the newest record of each of `jobs`; one of another user or name is another job."""
    _refuse_cut(text, "sacct's output")
    found: dict[str, JobSnapshot] = {}
    for line in text.splitlines():
        fields = line.split("|", len(commands.SACCT_FIELDS) - 1)
        token = jobs.get(fields[0])
        if token is None or len(fields) != len(commands.SACCT_FIELDS):
            continue  # a step, or the rest of a comment that holds a newline
        job_id, name, owner, state, exit_code, derived, node_list, comment = fields
        if owner != user or token.job_name != name or comment not in ("", token.comment):
            continue
        word = state.split()[0] if state.strip() else ""  # "CANCELLED by 1001"
        found[job_id] = JobSnapshot(
            job_id=job_id,
            state=word,
            reason="",
            node_list=node_list,
            token=token,
            exit_code=exit_status(exit_code) if has_ended(word) else None,
            derived_exit_code=exit_status(derived) if has_ended(word) else None,
            source="sacct",
        )
    return found


def facts(config: str, partitions: str) -> ClusterFacts:
    """Read `scontrol show config` and `scontrol -o show partition`."""
    _refuse_cut(config, "scontrol's configuration")
    _refuse_cut(partitions, "scontrol's list of partitions")
    pairs = (line.split("=", 1) for line in config.splitlines() if "=" in line)
    values = {name.strip(): value.strip() for name, value in pairs}
    try:
        return ClusterFacts(
            name=values["ClusterName"],
            version=values["SLURM_VERSION"],
            min_job_age_s=_seconds(values["MinJobAge"]),
            message_timeout_s=_seconds(values["MessageTimeout"]),
            max_job_count=int(values["MaxJobCount"]),
            kill_wait_s=_seconds(values["KillWait"]),
            job_requeue=int(values["JobRequeue"]),
            has_accounting=values["AccountingStorageType"].endswith("/slurmdbd"),
            partitions=tuple(
                _partition(entry) for entry in _some(records(partitions), "partitions")
            ),
        )
    except (KeyError, ValueError) as error:
        raise UnreadableOutput(f"scontrol's configuration cannot be read: {error}") from error


def _partition(entry: Mapping[str, str]) -> Partition:
    return Partition(
        name=entry["PartitionName"],
        state=entry["State"],
        is_default=entry["Default"] == "YES",
        max_time_s=duration_s(entry["MaxTime"]),
        node_list=entry["Nodes"],
        node_count=int(entry["TotalNodes"]),
    )


def nodes(text: str) -> dict[str, Node]:
    """Read `scontrol -o show node`. Of no node at all nothing is learned."""
    _refuse_cut(text, "scontrol's list of nodes")
    try:
        return {entry["NodeName"]: _node(entry) for entry in _some(records(text), "nodes")}
    except (KeyError, ValueError) as error:
        raise UnreadableOutput(f"scontrol's list of nodes cannot be read: {error}") from error


def _some(found: Iterator[dict[str, str]], what: str) -> list[dict[str, str]]:
    entries = list(found)
    if not entries:
        raise UnreadableOutput(f"scontrol showed no {what}")
    return entries


# What sinfo.1 says of a suffix (NODE STATE CODES), as the flag that says the same.
_SUFFIXES = {
    "*": "NOT_RESPONDING",
    "~": "POWERED_DOWN",
    "#": "POWERING_UP",
    "!": "POWER_DOWN",
    "%": "POWERING_DOWN",
    "$": "MAINTENANCE",
    "@": "REBOOT_REQUESTED",
    "^": "REBOOT_ISSUED",
    "-": "PLANNED",
}


def _node(entry: Mapping[str, str]) -> Node:
    shown, *flags = entry["State"].split("+")
    state = shown.rstrip("".join(_SUFFIXES))
    suffixes = {_SUFFIXES[each] for each in shown[len(state) :]}
    return Node(
        name=entry["NodeName"],
        state=state,
        flags=frozenset(suffixes.union(flags)),
        reason=entry.get("Reason", ""),
        partitions=tuple(entry.get("Partitions", "").split(",")),
        cpu_count=int(entry["CPUTot"]),
        memory_mib=int(entry["RealMemory"]),
    )


def duration_s(text: str) -> int | None:
    """Read "[days-]hours:minutes:seconds"; None when there is no limit."""
    if text in UNLIMITED:
        return None
    match = _DURATION.fullmatch(text)
    if match is None:
        raise UnreadableOutput(f"{text!r} is no duration")
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds


def _seconds(text: str) -> int:
    """Read "300 sec"."""
    return int(text.split()[0])
