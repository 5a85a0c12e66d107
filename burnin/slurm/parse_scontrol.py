"""`scontrol show job` and `scontrol -o show node` as a person asks for them.

The product's own questions are read in `burnin.slurm.parse`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from burnin.slurm import hostlist, parse
from burnin.slurm.cluster import Node
from burnin.slurm.parse_words import count, cut, malformed, refuse_cut, refuse_error

_SET_BY = re.compile(r" \[[^\[\]]*@[^\[\]]*\]$")


@dataclass(frozen=True)
class ShownJob:
    """One job. A NODE_FAIL job has exit code 0:0: the state decides, not the code."""

    job_id: int
    name: str
    state: str
    reason: str
    exit_code: str
    nodes: tuple[str, ...]
    restarts: int
    may_requeue: bool

    @property
    def succeeded(self) -> bool:
        return self.state == "COMPLETED" and self.exit_code == "0:0"


@dataclass(frozen=True)
class ShownNodes:
    """`reasons` are those that people or Slurm gave, without who gave them and when."""

    nodes: tuple[Node, ...]
    reasons: dict[str, str]


def job(text: str) -> ShownJob:
    """Return the one job; raise SlurmParseError where the record is cut."""
    refuse_error(text, "scontrol")
    refuse_cut(text, "scontrol")
    if len(re.findall(r"^JobId=", text, re.MULTILINE)) != 1:
        raise malformed("scontrol's output is not the record of one job")
    # The name goes to the end of its line; it may hold what looks like another key.
    first, _, rest = text.partition("\n")
    head = re.fullmatch(r"JobId=(\d{1,12})\b.*? JobName=(.*)", first.strip())
    record = parse.record(rest)
    if head is None:
        raise malformed(f"scontrol's job has no id or name: {first[:100]}")
    where = f"scontrol's job {head[1]}"
    return ShownJob(
        job_id=int(head[1]),
        name=head[2],
        state=_field(record, "JobState", where),
        reason=_field(record, "Reason", where),
        exit_code=_field(record, "ExitCode", where),
        nodes=_nodes(_field(record, "NodeList", where), where),
        restarts=count(_field(record, "Restarts", where), f"{where}, Restarts"),
        may_requeue=_field(record, "Requeue", where) == "1",
    )


def nodes(text: str) -> ShownNodes:
    """Return every node; raise SlurmParseError where the last line is cut."""
    refuse_error(text, "scontrol")
    refuse_cut(text, "scontrol")
    strays = [line for line in text.splitlines() if line.strip() and "NodeName=" not in line]
    if strays:
        raise malformed(f"scontrol's line is no node: {strays[0][:100]}")
    try:
        found = parse.nodes(text)
    except parse.UnreadableOutput as error:
        raise malformed(str(error)) from error
    reasons = {name: _SET_BY.sub("", node.reason) for name, node in found.items() if node.reason}
    return ShownNodes(tuple(found.values()), reasons)


def _field(record: dict[str, str], name: str, where: str) -> str:
    if name not in record:
        raise cut(f"{where} has no {name}")
    return record[name]


def _nodes(node_list: str, where: str) -> tuple[str, ...]:
    try:
        return tuple(hostlist.expand_allocation(node_list))
    except hostlist.BadHostList as error:
        raise malformed(f"{where}: {error}") from error
