"""sinfo's own table, `sinfo -N -o "%N|%T|%E"`, and the nodes of slurmrestd.

A node is listed once for each of its partitions. In JSON an "idle" node may carry the flag DRAIN.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from burnin.slurm import hostlist, parse_json
from burnin.slurm.parse_words import malformed, refuse_cut, refuse_error

_TABLE = ("PARTITION", "AVAIL", "TIMELIMIT", "NODES", "STATE", "NODELIST")
_ROWS = "NODELIST|STATE|REASON"
_USABLE = frozenset({"idle", "mixed", "allocated"})
_UNUSABLE_FLAGS = re.compile(r"DRAIN|FAIL|DOWN|NOT_RESPONDING|MAINT|RESERVED|POWER|REBOOT|INVALID")
_STATE = re.compile(r"[a-z_]+[*~#!%$@^+-]*")


@dataclass(frozen=True)
class SinfoNode:
    """`printed_state` is sinfo's word with its suffix: "down*" does not respond.

    `reason` is empty where sinfo does not tell, or there is none.
    """

    name: str
    printed_state: str
    flags: tuple[str, ...]
    reason: str

    @property
    def state(self) -> str:
        return self.printed_state.rstrip("*~#!%$@^+-")

    @property
    def is_usable(self) -> bool:
        flagged = any(_UNUSABLE_FLAGS.search(flag) for flag in self.flags)
        return self.printed_state in _USABLE and not flagged

    @property
    def is_drained(self) -> bool:
        return self.state.startswith("drain") or any("DRAIN" in flag for flag in self.flags)


@dataclass(frozen=True)
class SinfoReport:
    """Each node once, in the order of the output; `lines` counts the rows it took."""

    lines: int
    nodes: tuple[SinfoNode, ...]
    partitions_down: tuple[str, ...]


def parse(text: str) -> SinfoReport:
    """Return every node; raise SlurmParseError on an error message and on what is cut."""
    refuse_error(text, "sinfo")
    refuse_cut(text, "sinfo")
    header, *lines = [line for line in text.splitlines() if line.strip()]
    if header == _ROWS:
        return _from_rows(lines)
    if tuple(header.split()) == _TABLE:
        return _from_table(lines)
    raise malformed(f"not a header of sinfo: {header[:100]}")


def _from_rows(lines: list[str]) -> SinfoReport:
    nodes: dict[str, SinfoNode] = {}
    for line in lines:
        fields = line.split("|", 2)
        if len(fields) != 3:
            raise malformed(f"sinfo's row is incomplete: {line[:100]}")
        name, state, reason = fields
        _add(nodes, SinfoNode(name, _state(state), (), "" if reason == "none" else reason))
    return SinfoReport(len(lines), tuple(nodes.values()), ())


def _from_table(lines: list[str]) -> SinfoReport:
    nodes: dict[str, SinfoNode] = {}
    down: list[str] = []
    for line in lines:
        words = line.split()
        if len(words) not in (5, 6):  # a state without nodes has no list
            raise malformed(f"sinfo's row is incomplete: {line[:100]}")
        partition, available, _, _, state, *node_list = words
        if available != "up" and partition.rstrip("*") not in down:
            down.append(partition.rstrip("*"))
        for name in _expanded(node_list[0] if node_list else ""):
            _add(nodes, SinfoNode(name, _state(state), (), ""))
    return SinfoReport(len(lines), tuple(nodes.values()), tuple(down))


def _add(nodes: dict[str, SinfoNode], node: SinfoNode) -> None:
    if nodes.setdefault(node.name, node) != node:
        raise malformed(f"sinfo shows {node.name} in two states")


def _state(word: str) -> str:
    if not _STATE.fullmatch(word):
        raise malformed(f"sinfo shows no state but '{word[:40]}'")
    return word


def _expanded(node_list: str) -> list[str]:
    try:
        return hostlist.expand_allocation(node_list)
    except hostlist.BadHostList as error:
        raise malformed(f"sinfo: {error}") from error


def restd(text: str) -> SinfoReport:
    """Return the nodes of slurmrestd or `sinfo --json`, whose state may be a list of words."""
    refuse_error(text, "slurmrestd")
    found = parse_json.document(text, "slurmrestd")
    listed = parse_json.records(found, "nodes", "slurmrestd")
    if not listed:
        raise malformed("slurmrestd lists no node")
    return SinfoReport(len(listed), tuple(_restd_node(node) for node in listed), ())


def _restd_node(node: dict[str, Any]) -> SinfoNode:
    name = parse_json.text(node, "name", "slurmrestd's node")
    state, *flags = parse_json.words(node.get("state"), f"slurmrestd's node {name[:40]}")
    more = node.get("state_flags") or []
    return SinfoNode(
        name=name,
        printed_state=state.lower(),
        flags=(*flags, *(parse_json.words(more, name) if more else [])),
        reason=str(node.get("reason") or ""),
    )
