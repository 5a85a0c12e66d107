"""What pages of tests and limits write that others do not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import template

from burnin.dashboards import run_words, wording
from burnin.dashboards.limits_line import CONFIDENCES, NUMBERS, Line
from burnin.selectors.bounds import StatedBound

register = template.Library()

_GOOD_IS = {"higher": "higher", "lower": "lower", "exact": "the bound itself"}


@register.filter
def bound_text(bound: StatedBound) -> str:
    """≥ 455 GB/s"""
    if bound.value is None:
        return "no bound"
    return run_words.limit(bound.better, bound.value, bound.unit)


@register.filter
def confidence_words(letter: str) -> str:
    """A → the number stands in the source"""
    return dict(CONFIDENCES).get(letter, "").partition(": ")[2] or "unknown"


@register.filter
def good_is(better: str | None) -> str:
    return _GOOD_IS.get(better or "", "–")


@register.filter
def gate_words(metric: dict[str, Any]) -> str:
    """Whether a metric of a data sheet can decide, and if not, why."""
    if metric["gate_reason"]:
        return f"not gated: {metric['gate_reason']}"
    if not metric["better"]:
        return "shown only" if metric["api_visible"] else "kept for triage"
    return "decides when asked for" if metric["opt_in"] else "decides"


@register.inclusion_tag("dashboards/parts/limit_field.html")
def limit_input(line: Line, name: str, label: str, first: str | None) -> dict[str, Any]:
    """One field of a limit with what is wrong with it; the first that is wrong has the focus."""
    field = _field(line, name, first)
    if name == "value":
        unit = line.declared.unit.value
        field["label"] = f"{label}, {unit}" if unit else label
        field["says"] = field["error"] or _can_be_meant(line)
        return field
    return {**field, "label": label}


@register.inclusion_tag("dashboards/parts/limit_field.html")
def limit_choice(
    line: Line, name: str, label: str, choices: Sequence[tuple[str, str]], first: str | None
) -> dict[str, Any]:
    return {**_field(line, name, first), "label": label, "choices": choices}


def _field(line: Line, name: str, first: str | None) -> dict[str, Any]:
    ident, error = f"{line.name}-{name}", line.errors.get(name, "")
    return {
        "ident": ident,
        "said": getattr(line, name),
        "error": error,
        "says": error,
        "is_number": name in NUMBERS,
        "is_first": ident == first,
    }


def _can_be_meant(line: Line) -> str:
    if line.declared.plausible is None:
        return "In the metric's unit"
    low, high = (wording.number(each) for each in line.declared.plausible)
    return f"{low} to {high} {line.declared.unit} can be meant".replace("  ", " ")
