"""`ibstat` and `perfquery`: the state of each port, and its counters.

ibstat without an adapter prints nothing and exits 0; and it has no end mark: count the adapters.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from burnin.hardware_tests.parsers.json_report import last_line
from burnin.hardware_tests.parsers.number import count, decimal
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind

_ADAPTER = re.compile(r"CA '([^']+)'")
_PORT = re.compile(r"Port (\d{1,4}):")
_FIELD = re.compile(r"([A-Z][A-Za-z ]*?): *(.*)")
_COUNTERS_OF = re.compile(r"# Port (?:extended )?counters: .*?Lid (\d{1,6}) port (\d{1,4})\b.*")
_COUNTER = re.compile(r"([A-Za-z][A-Za-z0-9]*):\.+(0x[0-9A-Fa-f]+|\d+)")
_LINK_LAYERS = frozenset({"InfiniBand", "Ethernet", "Unspecified", "Unknown"})
_FAILURE = re.compile(
    r"^(?:ibpanic|ibwarn|ibstat|perfquery): .*(?:fail|can't|unable).*$", re.M | re.I
)


@dataclass(frozen=True)
class InfinibandPort:
    """`state` is logical ("Active"), `physical_state` the cable's ("LinkUp").

    The rate of a port that is down is a default of the adapter, not a measurement.
    """

    number: int
    state: str
    physical_state: str
    rate_bits_per_s: float
    lid: int
    subnet_manager_lid: int
    guid: str
    link_layer: str

    @property
    def is_up(self) -> bool:
        return self.state == "Active" and self.physical_state == "LinkUp"


@dataclass(frozen=True)
class InfinibandAdapter:
    name: str
    model: str
    firmware_version: str
    node_guid: str
    ports: tuple[InfinibandPort, ...]


@dataclass(frozen=True)
class InfinibandCounters:
    """One port's counters since they were cleared, by perfquery's names."""

    lid: int
    port: int
    values: dict[str, int]


@dataclass(frozen=True)
class InfinibandReport:
    """Adapters from ibstat, counters from perfquery; what was not asked for is empty."""

    adapters: tuple[InfinibandAdapter, ...]
    counters: tuple[InfinibandCounters, ...]


def parse(text: str) -> InfinibandReport:
    """Return what the text tells; raise ParseError where an adapter of it is incomplete."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        raise ParseError("empty output: ibstat lists no adapter", kind=RefusalKind.NO_DATA)
    if failure := _FAILURE.search(text):
        raise ParseError(failure[0], kind=RefusalKind.TOOL_ERROR)
    if _COUNTERS_OF.fullmatch(lines[0]):
        return InfinibandReport((), _all_counters(text, lines))
    if not _ADAPTER.fullmatch(lines[0]):
        words = f"neither ibstat's nor perfquery's output: {last_line(text)}"
        raise ParseError(words, kind=RefusalKind.MALFORMED)
    starts = [at for at, line in enumerate(lines) if line.startswith("CA '")]
    blocks = [lines[at:end] for at, end in zip(starts, [*starts[1:], len(lines)], strict=True)]
    return InfinibandReport(tuple(_adapter(block) for block in blocks), ())


def _adapter(lines: list[str]) -> InfinibandAdapter:
    named = _ADAPTER.fullmatch(lines[0])
    if named is None:
        raise ParseError(f"ibstat's line is cut: {lines[0][:60]}", kind=RefusalKind.TRUNCATED)
    starts = [at for at, line in enumerate(lines) if _PORT.fullmatch(line)]
    ends = [*starts[1:], len(lines)][: len(starts)]
    fields = _fields(lines[1 : starts[0] if starts else len(lines)])
    ports = tuple(_port(named[1], lines[at:end]) for at, end in zip(starts, ends, strict=True))
    if len(ports) != count(_field(fields, "Number of ports", named[1]), f"{named[1]}'s ports"):
        raise ParseError(
            f"ibstat shows {len(ports)} ports of {named[1]}, which has {fields['Number of ports']}",
            kind=RefusalKind.TRUNCATED,
        )
    return InfinibandAdapter(
        name=named[1],
        model=_field(fields, "CA type", named[1]),
        firmware_version=_field(fields, "Firmware version", named[1]),
        node_guid=_field(fields, "Node GUID", named[1]),
        ports=ports,
    )


def _port(adapter: str, lines: list[str]) -> InfinibandPort:
    number = count(lines[0].removeprefix("Port ").removesuffix(":"), f"{adapter}'s port")
    where, fields = f"port {number} of {adapter}", _fields(lines[1:])
    link_layer = _field(fields, "Link layer", where)
    if link_layer not in _LINK_LAYERS:
        raise ParseError(
            f"ibstat calls the link layer of {where} {link_layer[:40]}", kind=RefusalKind.TRUNCATED
        )
    rate, *_ = _field(fields, "Rate", where).split()  # "40 (FDR10)"
    return InfinibandPort(
        number=number,
        state=_field(fields, "State", where),
        physical_state=_field(fields, "Physical state", where),
        rate_bits_per_s=decimal(rate, f"the rate of {where}") * 1e9,
        lid=count(_field(fields, "Base lid", where), f"the lid of {where}"),
        subnet_manager_lid=count(_field(fields, "SM lid", where), f"the SM lid of {where}"),
        guid=_field(fields, "Port GUID", where),
        link_layer=link_layer,
    )


def _fields(lines: list[str]) -> dict[str, str]:
    return {found[1]: found[2] for line in lines if (found := _FIELD.fullmatch(line))}


def _field(fields: dict[str, str], name: str, where: str) -> str:
    if not fields.get(name):
        raise ParseError(f"ibstat tells no {name} of {where}", kind=RefusalKind.TRUNCATED)
    return fields[name]


def _all_counters(text: str, lines: list[str]) -> tuple[InfinibandCounters, ...]:
    """A line of perfquery without its end may be cut in the middle of a number."""
    if not text.endswith("\n"):
        raise ParseError("perfquery's last line is cut", kind=RefusalKind.TRUNCATED)
    found: list[InfinibandCounters] = []
    for line in lines:
        if heading := _COUNTERS_OF.fullmatch(line):
            lid, port = (count(word, "perfquery's port") for word in heading.groups())
            found.append(InfinibandCounters(lid, port, {}))
        elif counter := _COUNTER.fullmatch(line):
            found[-1].values[counter[1]] = _value(counter[1], counter[2])
        else:
            words = f"perfquery's line is cut or unknown: {line[:60]}"
            raise ParseError(words, kind=RefusalKind.TRUNCATED)
    return tuple(found)


def _value(name: str, word: str) -> int:
    if word.startswith("0x") and len(word) <= 18:
        return int(word, 16)
    return count(word, f"perfquery's {name}")
