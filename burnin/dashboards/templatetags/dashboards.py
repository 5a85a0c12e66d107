"""What every page is made of: glyphs with words, bars, figures, ages, host lists, links."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from django import template
from django.http import QueryDict
from django.template.context import RequestContext
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from burnin.dashboards import bars, wording
from burnin.dashboards.asks import Ask
from burnin.dashboards.looks import MEANS, look_of
from burnin.slurm.hostlist import fold

register = template.Library()


@register.simple_tag
def verdict(state: str, text: str = "") -> SafeString:
    """`{% verdict run.verdict %}`: the glyph, and the state's word or a text of yours."""
    look = look_of(state)
    return format_html('<span class="v {}">{}</span>', look.css, text or look.word)


@register.simple_tag
def chip(state: str, text: str = "") -> SafeString:
    """Like `verdict`, as it stands once beside a page's title."""
    look = look_of(state)
    return format_html('<span class="v {} chip">{}</span>', look.css, text or look.word)


@register.simple_tag
def glyph(state: str) -> SafeString:
    """The glyph alone; its word is there for who listens."""
    look = look_of(state)
    return format_html('<span class="v {}"><span class="sr">{}</span></span>', look.css, look.word)


@register.filter
def css(state: str) -> str:
    """The class `v-…` of a state."""
    return look_of(state).css


@register.filter
def means(state: str) -> str:
    """What a state says, for whoever meets the word first."""
    return MEANS.get(state, "")


@register.inclusion_tag("dashboards/parts/legend.html")
def legend(states: Iterable[str]) -> dict[str, object]:
    """`{% legend counts %}`: what each of these states means, folded."""
    return {"states": list(states)}


@register.filter
def coded(sentence: object) -> SafeString:
    """What stands between backticks is for a shell: `<code>` shows it without them."""
    parts = re.split(r"`([^`]+)`", str(sentence))
    return format_html_join(
        "",
        "{}",
        (
            (format_html("<code>{}</code>", part) if place % 2 else part,)
            for place, part in enumerate(parts)
        ),
    )


@register.filter
def word(state: str) -> str:
    return look_of(state).word


@register.simple_tag
def bar(counts: Mapping[str, int]) -> SafeString:
    """`{% bar counts %}`: one bar of counts by state."""
    rects = format_html_join(
        "",
        '<rect class="{}" x="{}%" width="{}%" height="100%"><title>{}</title></rect>',
        (
            (each.look.css, f"{each.x:.2f}", f"{each.width:.2f}", each.title)
            for each in bars.segments(counts)
        ),
    )
    return format_html(
        '<svg class="bar" role="img" aria-label="{}">{}</svg>', bars.sentence(counts), rects
    )


@register.filter
def figure(value: float | None) -> str:
    """1234.5 → 1,234"""
    return wording.number(value)


@register.simple_tag
def quantity(value: float | None, unit: str = "") -> str:
    """`{% quantity 366.83 "GB/s" %}` → 366.8 GB/s"""
    return wording.quantity(value, unit)


@register.filter
def duration(seconds: float | None) -> str:
    """5700 → 1 h 35 min"""
    return wording.duration(seconds)


@register.filter
def memory(mib: float) -> str:
    """257024 → 251 GiB"""
    return wording.memory(mib)


@register.filter
def bytes_size(byte_count: float | None) -> str:
    return wording.size(byte_count)


@register.simple_tag
def now_iso() -> str:
    return timezone.now().isoformat(timespec="milliseconds")


@register.filter
def age(at: datetime | None) -> SafeString | str:
    """How long ago; goes on counting in a browser with scripts."""
    if at is None:
        return "–"
    return format_html(
        '<time datetime="{}" title="{} UTC" data-age>{}</time>',
        at.isoformat(),
        f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S}",
        wording.age(at, timezone.now()),
    )


@register.filter
def moment(at: datetime | None) -> SafeString | str:
    """A time in UTC, as short as it can be; the whole of it when pointed at."""
    if at is None:
        return "–"
    at = at.astimezone(UTC)
    return format_html(
        '<time datetime="{}" title="{} UTC">{}</time>',
        at.isoformat(),
        f"{at:%Y-%m-%d %H:%M:%S}",
        wording.moment(at, timezone.now()),
    )


@register.filter
def hostlist(names: Iterable[str]) -> str:
    """n1, n2, n3 → n[1-3]"""
    return fold(list(names))


@register.inclusion_tag("dashboards/parts/exports.html", takes_context=True)
def exports(context: RequestContext) -> dict[str, Any]:
    """Links to what the page shows, filtered as it is, whole."""
    query: QueryDict = context["request"].GET.copy()
    for name in ("page", "cursor", "export"):
        query.pop(name, None)
    return {"query": query.urlencode()}


@register.inclusion_tag("dashboards/parts/pager.html", takes_context=True)
def pager(context: RequestContext, page: Any, noun: str) -> dict[str, Any]:
    """`{% pager page "nodes" %}`: of a Django page (`?page=`) or of a cursor page (`?cursor=`)."""
    return {"request": context["request"], "page": page, "noun": noun}


@register.inclusion_tag("dashboards/parts/why.html")
def why_dialog(ask: Ask, *, action: str) -> dict[str, object]:
    """The dialog that asks why: posts `reason` to `action`.

    Open it with `<button class="btn danger" data-open="{{ ask.ident }}">`.
    """
    return {"ask": ask, "action": action}
