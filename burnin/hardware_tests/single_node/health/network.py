"""RDMA adapters, and network interfaces that have a cable."""

from __future__ import annotations

import re
from collections import Counter

from pydantic import Field

from burnin.hardware_tests.evaluation import NotMeasured
from burnin.hardware_tests.parsers import infiniband
from burnin.hardware_tests.parsers.infiniband import InfinibandAdapter, InfinibandPort
from burnin.hardware_tests.parsers.number import amount, count
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind
from burnin.hardware_tests.single_node.health.section import (
    AtBothEnds,
    Found,
    FromNode,
    Reader,
    Section,
    ToolEnd,
    growth,
    highest,
    listed,
    lowest,
    told,
)

IS_UP_BY_ADMIN = 0x1  # IFF_UP
_DOWN = ("down", "lowerlayerdown", "dormant", "notpresent")
_COLORS = re.compile(r"\x1b\[[0-9;]*m")
_ADVICE = re.compile(r"^Recommendation\s*:\s*(.+?)\s*$", re.MULTILINE)
_RAW_ERRORS = re.compile(r"^Raw Physical BER\s*:\s*(\S+)\s*$", re.MULTILINE)
# These are the lines of `mlxlink -m -c -e` that oci-hpc check_gpu_setup.py reads.
_TOLERATED_ERROR_RATE = 1e-7  # where mlxlink complains of the signal's integrity only (OCI)


_LET_IN = "AUTHENTICATED"
_SUPPLICANT = re.compile(r"^Supplicant PAE state=(\S+)", re.MULTILINE)
_NO_SUPPLICANT = "Failed to connect to non-global ctrl_if"
_LOST_CARRIER = re.compile(r"^(\S+): Lost carrier$", re.MULTILINE)
_NO_ENTRIES = frozenset({"", "-- No entries --"})


class _Interface(FromNode):
    flags: int
    state: str
    carrier_down_count: int = Field(ge=0)


class _Settings(FromNode):
    speed: str
    mtu: str


_Interfaces = AtBothEnds[dict[str, _Interface]]


def active_rdma_ports(section: Section) -> Found:
    """A class has adapters: a node that shows none has lost them, and ibstat exits 0."""
    try:
        ports = _ports(section)
    except ParseError as error:
        if error.kind is RefusalKind.NO_DATA and section.said().exit_code == 0:
            return 0, "ibstat lists no adapter"
        raise
    return sum(port.is_up for port in ports.values()), _down(ports)


def down_rdma_ports(section: Section) -> Found:
    ports = _ports(section)
    return sum(not port.is_up for port in ports.values()), _down(ports)


def slowest_rdma_port(section: Section) -> Found:
    """In Gb/s. The rate of a port that is down is a default, no measurement."""
    up = {name: port for name, port in _ports(section).items() if port.is_up}
    return lowest({name: port.rate_bits_per_s / 1e9 for name, port in up.items()}, "rate")


def hca_firmware_versions(section: Section) -> Found:
    """Return how many versions one model has, and tell those of each model."""
    adapters = _adapters(section)
    versions = {
        model: sorted({each.firmware_version for each in adapters if each.model == model})
        for model in {each.model for each in adapters}
    }
    _, words = told({f"{model}: {', '.join(each)}" for model, each in versions.items()})
    return max(map(len, versions.values())), words


def ofed_versions(section: Section) -> Found:
    said = section.said()
    version = said.text.strip().rstrip(":")
    if said.exit_code or not version or "\n" in version:
        raise NotMeasured(f"ofed_info tells no version: {said.words}")
    return told({version})


def new_rdma_errors(section: Section) -> Found:
    ends = section.shaped(AtBothEnds[dict[str, dict[str, int]]])
    return growth(_flat(ends.before), _flat(ends.after), "errors")


def weak_rdma_ports(section: Section) -> Found:
    devices = sorted(section.shaped(dict[str, ToolEnd]))
    complaints = {device: _complaint(section, device) for device in devices}
    return listed([f"{device}: {words}" for device, words in complaints.items() if words])


def unauthenticated_ports(section: Section) -> Found:
    """Count ports that the switch has not let in. Without its supplicant none is let in."""
    interfaces = sorted(section.shaped(dict[str, ToolEnd]))
    states = {name: _supplicant_state(section, name) for name in interfaces}
    return listed([f"{name}: {state}" for name, state in states.items() if state != _LET_IN])


def slowest_network_link(section: Section) -> Found:
    """In Gb/s; the kernel counts in Mb/s, and calls the speed of a virtual device -1."""
    speeds = {name: each.speed for name, each in _settings(section).items()}
    if virtual := [name for name, speed in speeds.items() if speed.startswith("-")]:
        raise NotMeasured(f"{', '.join(virtual)} has no speed")
    known = {name: amount(speed, f"the speed of {name}") / 1e3 for name, speed in speeds.items()}
    return lowest(dict(known), "speed")


def smallest_frame(section: Section) -> Found:
    frames = {name: each.mtu for name, each in _settings(section).items()}
    return lowest({name: count(mtu, f"the MTU of {name}") for name, mtu in frames.items()}, "MTU")


def lost_carriers(section: Section) -> Found:
    """Return how often the worst interface lost its carrier, as networkd wrote to the journal."""
    day, said = section.said("day"), section.said("lost")
    if day.exit_code or day.text.strip() in _NO_ENTRIES:
        raise NotMeasured(f"the journal holds nothing of the last 24 h: {day.words}")
    lost = Counter(_LOST_CARRIER.findall(said.text))
    if not lost and {said.text.strip(), said.words} - _NO_ENTRIES:
        raise NotMeasured(f"journalctl does not search the journal: {said.words}")
    return highest(dict(lost), "lost carriers") if lost else (0, "")


def down_network_links(section: Section) -> Found:
    """Count links that somebody wants up. One that is switched off is not broken."""
    wanted = {
        name: each
        for name, each in section.shaped(_Interfaces).after.items()
        if each.flags & IS_UP_BY_ADMIN
    }
    if unknown := [name for name, each in wanted.items() if each.state == "unknown"]:
        raise NotMeasured(f"{', '.join(unknown)} does not tell its state")
    return listed([f"{name}: {each.state}" for name, each in wanted.items() if each.state in _DOWN])


def link_flaps(section: Section) -> Found:
    ends = section.shaped(_Interfaces)
    before, after = (
        {name: each.carrier_down_count for name, each in end.items()}
        for end in (ends.before, ends.after)
    )
    return growth(before, after, "lost carriers")


def _supplicant_state(section: Section, name: str) -> str:
    said = section.said(name)
    if found := _SUPPLICANT.search(said.text):
        return found[1]
    if _NO_SUPPLICANT in f"{said.text}{said.words}":
        return "no supplicant runs"
    raise NotMeasured(f"wpa_cli tells no state of {name}: {said.words}")


def _settings(section: Section) -> dict[str, _Settings]:
    return section.shaped(dict[str, _Settings])


def _complaint(section: Section, device: str) -> str:
    """Return what mlxlink advises against, "" for a good signal."""
    text = _COLORS.sub("", section.said(device).text)
    advice, rate = _ADVICE.search(text), _RAW_ERRORS.search(text)
    if advice is None or rate is None:
        raise NotMeasured(f"mlxlink tells no signal of {device}: {section.said(device).words}")
    is_good = advice[1].startswith("No issue")
    is_tolerated = (
        "signal integrity" in advice[1].lower()
        and amount(rate[1].lower(), f"the raw error rate of {device}") <= _TOLERATED_ERROR_RATE
    )
    return "" if is_good or is_tolerated else f"{advice[1]} (raw error rate {rate[1]})"


def _flat(ports: dict[str, dict[str, int]]) -> dict[str, int]:
    return {
        f"{port.replace('/ports/', '/')} {name}": number
        for port, counters in ports.items()
        for name, number in counters.items()
    }


def _adapters(section: Section) -> tuple[InfinibandAdapter, ...]:
    return section.parsed(infiniband.parse).adapters


def _ports(section: Section) -> dict[str, InfinibandPort]:
    return {
        f"{adapter.name}/{port.number}": port
        for adapter in _adapters(section)
        for port in adapter.ports
    }


def _down(ports: dict[str, InfinibandPort]) -> str:
    down = {name: port for name, port in ports.items() if not port.is_up}
    return "; ".join(f"{name}: {port.state}, {port.physical_state}" for name, port in down.items())


READERS: dict[str, Reader] = {
    "active_rdma_ports": active_rdma_ports,
    "down_rdma_ports": down_rdma_ports,
    "slowest_rdma_port": slowest_rdma_port,
    "hca_firmware_versions": hca_firmware_versions,
    "new_rdma_errors": new_rdma_errors,
    "weak_rdma_ports": weak_rdma_ports,
    "ofed_versions": ofed_versions,
    "unauthenticated_ports": unauthenticated_ports,
    "slowest_network_link": slowest_network_link,
    "smallest_frame": smallest_frame,
    "lost_carriers": lost_carriers,
    "down_network_links": down_network_links,
    "link_flaps": link_flaps,
}
