"""One metric of the form of limits: what its fields say, and what is wrong with each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.http import QueryDict

from burnin.hardware_tests.metrics import MetricDeclaration
from burnin.hardware_tests.thresholds.entry import MOST_NODES
from burnin.hardware_tests.thresholds.schema import Standing
from burnin.models.limits import LONGEST_TEXT

CONFIDENCES = (
    ("A", "A: the number stands in the source"),
    ("B", "B: arithmetic from the source"),
    ("C", "C: from experience"),
)
STANDINGS = (
    (Standing.GATES.value, "decides"),
    (Standing.NOT_GATED.value, "is shown, never decides"),
    (Standing.UNCALIBRATED.value, "is uncalibrated: runs end errored"),
)
BY_FABRIC = ("by_fabric", "has a limit for each network, as shipped")
FIELDS = ("standing", "value", "source", "confidence", "fingerprint", "num_nodes", "why")
NUMBERS = frozenset({"value", "num_nodes"})


@dataclass
class Line:
    """One metric of the form: what stands in its fields, and by field what is wrong."""

    declared: MetricDeclaration
    standing: str = Standing.GATES.value
    value: str = ""
    source: str = ""
    confidence: str = ""
    fingerprint: str = ""
    num_nodes: str = ""
    why: str = ""
    fabric: Mapping[str, Any] = field(default_factory=dict)
    by_fabric: Sequence[Mapping[str, Any]] = ()
    errors: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.declared.name

    @property
    def gates(self) -> bool:
        return self.standing == Standing.GATES

    @property
    def summary(self) -> str:
        """What the fields say, for whoever has not opened them."""
        if self.gates:
            return f"{self.value} {self.declared.unit}".strip() if self.value else "no limit yet"
        return dict(self.standings)[self.standing]

    @property
    def standings(self) -> tuple[tuple[str, str], ...]:
        """What the metric may be; one with limits by network may keep them, not get them here."""
        return (BY_FABRIC, *STANDINGS) if self.by_fabric else STANDINGS

    def stated(self) -> dict[str, Any]:
        """Return what thresholds.yaml would say; {} when nothing was filled in."""
        if self.standing == BY_FABRIC[0]:
            return {self.standing: list(self.by_fabric)}
        if not self.gates:
            return {self.standing: self.why}
        if not (self.value or self.source or self.confidence):
            return {}
        said: dict[str, Any] = {
            "value": number(self.value),
            "source": self.source,
            "confidence": self.confidence,
        }
        if self.fingerprint:
            said["fingerprint"] = self.fingerprint
        if self.fabric:
            said["fabric"] = self.fabric
        return {**said, "num_nodes": number(self.num_nodes)} if self.num_nodes else said

    def complaints(self) -> dict[str, str]:
        """Return by field what no limit may say, in the words of the form."""
        if self.standing == BY_FABRIC[0]:
            return {}
        if not self.gates:
            found = {"why": about_words(self.why, if_none="Say why it does not decide.")}
        elif not self.stated():
            found = {"value": "Give a bound, or choose that it never decides and say why."}
        else:
            found = {
                "value": self._about_value(),
                "source": about_words(self.source, if_none="Say where the bound comes from."),
                "confidence": "" if self.confidence in dict(CONFIDENCES) else "Choose A, B or C.",
                "fingerprint": about_words(self.fingerprint, if_none=""),
                "num_nodes": self._about_nodes(),
            }
        return {name: sentence for name, sentence in found.items() if sentence}

    def _about_value(self) -> str:
        unit = f" of {self.declared.unit}" if self.declared.unit else ""
        if not self.value:
            return f"Give a number{unit}."
        value = number(self.value)
        if isinstance(value, str) or math.isnan(value):
            return f"“{self.value:.40}” is no number: give a plain number{unit}, such as 12.5."
        return "" if math.isfinite(value) else f"“{self.value:.40}” is too large to be a bound."

    def _about_nodes(self) -> str:
        count = number(self.num_nodes)
        if not self.num_nodes or (isinstance(count, int) and 2 <= count <= MOST_NODES):
            return ""
        return f"“{self.num_nodes:.40}” nodes cannot be meant: give 2 to {MOST_NODES:,}."


def line_of(declared: MetricDeclaration, stated: Mapping[str, Any]) -> Line:
    if BY_FABRIC[0] in stated:
        return Line(declared, standing=BY_FABRIC[0], by_fabric=stated[BY_FABRIC[0]])
    for standing in (Standing.NOT_GATED.value, Standing.UNCALIBRATED.value):
        if standing in stated:
            return Line(declared, standing=standing, why=str(stated[standing]))
    value = stated.get("value")
    return Line(
        declared,
        value="" if value is None else str(value),
        source=str(stated.get("source", "")),
        confidence=str(stated.get("confidence", "")),
        fingerprint=str(stated.get("fingerprint", "")),
        num_nodes=str(stated.get("num_nodes", "")),
        fabric=stated.get("fabric", {}),
    )


def posted_line(declared: MetricDeclaration, posted: QueryDict, stated: Mapping[str, Any]) -> Line:
    """Return what was posted. What a bound says of its network is kept: the form has no field."""
    kept = {name: stated[name] for name in ("fabric", BY_FABRIC[0]) if name in stated}
    said: dict[str, Any] = {
        name: posted.get(f"{declared.name}-{name}", "").strip() for name in FIELDS
    }
    line = Line(declared, **said, **kept)
    if line.standing not in dict(line.standings):
        line.standing = Standing.GATES.value
    return line


def about_words(text: str, *, if_none: str) -> str:
    """Return what is wrong with a text, in a sentence; "" if nothing is."""
    if len(text) > LONGEST_TEXT:
        return f"{len(text):,} characters are too many: keep it to {LONGEST_TEXT:,}."
    return "" if text else if_none


def number(text: str) -> float | int | str:
    """Return the number as YAML would read it, else the text, which the rules then refuse."""
    try:
        value = float(text)
    except ValueError:
        return text
    return int(value) if value.is_integer() else value
