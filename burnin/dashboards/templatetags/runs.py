"""What pages of jobs and runs write that others do not."""

from __future__ import annotations

from collections.abc import Sequence

from django import template

from burnin.dashboards import run_words
from burnin.selectors.job_trouble import Alike
from burnin.selectors.run import ShownMetric

register = template.Library()


@register.filter
def param(value: object) -> str:
    """A param as it was given: lists as a, b; yes and no for switches."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "none"
    return "not given" if value is None else str(value)


@register.filter
def short_slug(slug: str) -> str:
    """single-node.memory-stress → memory-stress: for where the stage stands beside it."""
    return slug.partition(".")[2] or slug


@register.filter
def margin(deviation: float) -> str:
    """-0.194 → −19.4 %"""
    return run_words.margin(deviation)


@register.filter
def nodes_in(groups: Sequence[Alike]) -> int:
    """How many nodes these failures are of; a node with two causes is one."""
    return len({name for each in groups for name in each.nodes})


@register.filter
def limit_text(metric: ShownMetric) -> str:
    """The bound that a gate was asked: ≥ 455 GB/s"""
    if metric.limit is None:
        return "no bound"
    return run_words.limit(metric.bound["better"], metric.limit, metric.unit)
