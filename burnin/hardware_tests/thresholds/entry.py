"""Reads what thresholds.yaml says of one metric: a limit with its source, or why there is none."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Protocol, TypeGuard

from burnin.hardware_tests.located_yaml import Located
from burnin.hardware_tests.metrics import (
    BaseMetrics,
    Better,
    FabricFact,
    MetricDeclaration,
    fabric_words,
)
from burnin.hardware_tests.thresholds.errors import BadThresholds
from burnin.hardware_tests.thresholds.magnitude import implausible
from burnin.hardware_tests.thresholds.schema import Bound, Standing, Thresholds

_ENTRY_KEYS = {
    "value": frozenset({"value", "source", "confidence", "fingerprint", "num_nodes", "fabric"}),
    "by_fabric": frozenset({"by_fabric"}),
    "not_gated": frozenset({"not_gated"}),
    "uncalibrated": frozenset({"uncalibrated"}),
}
# What a limit may say of its fabric: the network that NCCL took, the rate of all RDMA ports of a
# node in Gb/s, and whether NVLink Sharp and NVLink between nodes were on.
FABRIC_FACTS: Mapping[str, tuple[type, ...]] = {
    "network": (str,),
    "rate": (int, float),
    "nvls": (bool,),
    "mnnvl": (bool,),
}
MOST_NODES = 100_000


class HasThresholds(Protocol):
    """The part of a test class that has limits."""

    @property
    def slug(self) -> str: ...
    @property
    def metrics_class(self) -> type[BaseMetrics]: ...
    @property
    def thresholds_class(self) -> type[Thresholds]: ...


@dataclass(frozen=True)
class Entry:
    """What is stated of one metric, and where: file and line."""

    where: str
    stated: Located


def read_bound(test: HasThresholds, name: str, entry: Entry, *, version: str) -> Bound:
    """Return the limit, or the bound without one. Raises BadThresholds."""
    declared = test.metrics_class.declarations().get(name)
    if declared is None or declared.better is None or not test.thresholds_class.gates(name):
        raise BadThresholds(
            f"{entry.where}: {test.slug} has no limit called {name!r}: "
            f"see {test.thresholds_class.__name__}"
        )
    kind = _kind(entry, name)
    refuse_unknown_keys(entry.stated, _ENTRY_KEYS[kind], what=f"key of {name}")
    if kind == "by_fabric":
        return _of_fabrics(test, name, entry, declared.better, version=version)
    if kind != "value":
        return Bound(
            metric=name,
            value=None,
            better=declared.better,
            unit=declared.unit,
            version=version,
            standing=Standing(kind),
            why=_text(entry, name, kind),
        )
    return Bound(
        metric=name,
        value=_value(entry, declared),
        better=declared.better,
        unit=declared.unit,
        version=version,
        source=_text(entry, name, "source"),
        confidence=_confidence(entry, name),
        fingerprint=_text(entry, name, "fingerprint") if "fingerprint" in entry.stated else None,
        num_nodes=_num_nodes(entry, name) if "num_nodes" in entry.stated else None,
        fabric=_fabric(entry, name) if "fabric" in entry.stated else {},
    )


def _of_fabrics(
    test: HasThresholds, name: str, entry: Entry, better: Better, *, version: str
) -> Bound:
    """Return limits of which each is of one fabric; of any other fabric none decides."""
    stated = entry.stated["by_fabric"]
    if not isinstance(stated, list) or not all(isinstance(each, Located) for each in stated):
        raise BadThresholds(f"{entry.where}: by_fabric of {name} must list limits")
    entries = [Entry(each.at("value"), each) for each in stated]
    if any(_kind(each, name) != "value" for each in entries) or len(entries) < 2:
        raise BadThresholds(f"{entry.where}: by_fabric of {name} must list two values or more")
    bounds = tuple(read_bound(test, name, each, version=version) for each in entries)
    for one, other in combinations(bounds, 2):
        if not _differ(one, other):
            raise BadThresholds(
                f"{entry.where}: two limits of {name} hold for one result: "
                f"{one.value:g} and {other.value:g}"
            )
    said = "; ".join(_where(each) for each in bounds)
    return Bound(
        metric=name,
        value=None,
        better=better,
        unit=bounds[0].unit,
        version=version,
        standing=Standing.UNCALIBRATED,
        why=f"there are limits for {said}",
        by_fabric=bounds,
    )


def _differ(one: Bound, other: Bound) -> bool:
    """Say whether no result can be of both."""
    counts = {one.num_nodes, other.num_nodes}
    known = set(one.fabric) & set(other.fabric)
    return (len(counts) == 2 and None not in counts) or any(
        one.fabric[fact] != other.fabric[fact] for fact in known
    )


def _where(bound: Bound) -> str:
    nodes = f"{bound.num_nodes} nodes" if bound.num_nodes else "any number of nodes"
    return f"{nodes}, {fabric_words(bound.fabric)}" if bound.fabric else nodes


def _fabric(entry: Entry, name: str) -> dict[str, FabricFact]:
    facts = entry.stated["fabric"]
    if not isinstance(facts, Mapping) or not facts or not set(facts) <= set(FABRIC_FACTS):
        known = ", ".join(FABRIC_FACTS)
        raise BadThresholds(f"{entry.where}: the fabric of {name} must state some of {known}")
    for fact, value in facts.items():
        if type(value) not in FABRIC_FACTS[fact] or not _can_be(fact, value):
            raise BadThresholds(f"{entry.where}: {fact} of {name} cannot be {value!r:.40}")
    return {fact: float(each) if type(each) is int else each for fact, each in facts.items()}


def _can_be(fact: str, value: FabricFact) -> bool:
    if fact == "rate":
        return _is_finite(value) and value > 0
    return fact != "network" or bool(str(value).strip())


def _is_finite(value: object) -> TypeGuard[float]:
    """Say whether it is a number, and one that a float holds."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer of over 308 digits
        return False


def _kind(entry: Entry, name: str) -> str:
    kinds = [kind for kind in _ENTRY_KEYS if kind in entry.stated]
    if len(kinds) != 1:
        raise BadThresholds(f"{entry.where}: {name} must state one of {', '.join(_ENTRY_KEYS)}")
    return kinds[0]


def _value(entry: Entry, declared: MetricDeclaration) -> float:
    value = entry.stated["value"]
    if not _is_finite(value):
        raise BadThresholds(
            f"{entry.where}: {declared.name} is {value!r:.40}, which is no number for a limit"
        )
    if slip := implausible(value, declared):
        raise BadThresholds(f"{entry.where}: {declared.name} is {value:g} {declared.unit}: {slip}")
    return value


def _num_nodes(entry: Entry, name: str) -> int:
    count = entry.stated["num_nodes"]
    if isinstance(count, bool) or not isinstance(count, int) or not 2 <= count <= MOST_NODES:
        raise BadThresholds(
            f"{entry.where}: {name} is for {count!r:.40} nodes: give 2 to {MOST_NODES:,}"
        )
    return count


def _text(entry: Entry, name: str, key: str) -> str:
    text = entry.stated.get(key)
    if not isinstance(text, str) or not text.strip():
        raise BadThresholds(f"{entry.where}: {name} must say its {key} in words")
    return text.strip()


def _confidence(entry: Entry, name: str) -> str:
    confidence = _text(entry, name, "confidence")
    if confidence not in ("A", "B", "C"):
        raise BadThresholds(f"{entry.where}: the confidence of {name} is A, B or C")
    return confidence


def refuse_unknown_keys(mapping: Located, known: frozenset[str] | set[str], *, what: str) -> None:
    for key in mapping:
        if key not in known:
            raise BadThresholds(
                f"{mapping.at(key)}: there is no {what} {key!r}; known: {', '.join(sorted(known))}"
            )
