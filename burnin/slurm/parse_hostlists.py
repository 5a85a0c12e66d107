"""A file of host lists, one a line."""

from __future__ import annotations

from dataclasses import dataclass

from burnin.slurm import hostlist
from burnin.slurm.parse_words import malformed, refuse_cut, refuse_error


@dataclass(frozen=True)
class HostLists:
    """The names that each line stands for, in its order; none where Slurm says nobody."""

    expanded: dict[str, tuple[str, ...]]


def parse(text: str) -> HostLists:
    """Expand every line; raise SlurmParseError at one that is no host list."""
    refuse_error(text, "scontrol show hostlist")
    refuse_cut(text, "scontrol show hostlist")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    try:
        return HostLists({line: tuple(hostlist.expand_allocation(line)) for line in lines})
    except hostlist.BadHostList as error:
        raise malformed(str(error)) from error
