"""The cells of the matrix as markup. Made here and not in a template: a page has a thousand."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from django.urls import reverse
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString, mark_safe

from burnin.dashboards import run_words, wording
from burnin.dashboards.looks import Look, look_of
from burnin.dashboards.run_words import margin
from burnin.models import JobNode
from burnin.models.severity import Severity
from burnin.selectors.job_counts import shown_as
from burnin.selectors.matrix import Cell, Column, Limit, Row

_ANY_RUN = "00000000-0000-0000-0000-000000000000"
_CAUSES = {"test": "test", "infrastructure": "infra", "hardware": "hung"}
_NO_RUN = mark_safe("<td></td>")


def limit_text(limit: Limit | None) -> str:
    """Return a bound as a column's head shows it: ≥ 455 GB/s."""
    if limit is None:
        return ""
    return run_words.limit(*limit)


def worst_text(member: JobNode) -> str:
    """Return how far the node's worst measurement is from its bound."""
    if member.severity == Severity.FAULT:
        return "fault"
    return margin(member.worst) if member.worst is not None else "–"


class CellMaker:
    """Writes cells for one request, at one moment."""

    def __init__(self, columns: list[Column], now: datetime) -> None:
        self._units = [column.limit.unit if column.limit else None for column in columns]
        self._now = now
        self._url = reverse("dashboards:run", args=[_ANY_RUN])
        self._looks: dict[str, Look] = {}

    def row(self, row: Row) -> SafeString:
        """Return the cells of one node, in the columns' order."""
        cells = zip(row.cells, self._units, strict=True)
        return mark_safe("".join(self._cell(cell, unit) for cell, unit in cells))

    def _cell(self, cell: Cell | None, column_unit: str | None) -> str:
        if cell is None:
            return _NO_RUN
        state = cell.verdict or shown_as(cell.state)
        look = self._looks.setdefault(state, look_of(state))
        url = self._url.replace(_ANY_RUN, str(cell.run_id))
        return (
            f'<td><a class="v {look.css}" href="{url}"{_title(cell)}>'
            f'<span class="sr">{look.word}</span>{self._inside(cell, column_unit)}</a></td>'
        )

    def _inside(self, cell: Cell, column_unit: str | None) -> str:
        """Value, attempt and age; of what was not measured a word; of the rest nothing."""
        if not cell.verdict or cell.verdict == "skipped":
            return ""
        again = f"<sup>{cell.attempt}</sup>" if cell.attempt > 1 else ""
        age = wording.short_age(cell.moved_at, self._now)
        return f"{_value(cell, column_unit)}{again}<small>{age}</small>"


def _value(cell: Cell, column_unit: str | None) -> str:
    if cell.value is None:
        return _CAUSES.get(cell.cause, "")
    if cell.unit == column_unit:
        return wording.number(cell.value)
    return str(conditional_escape(wording.quantity(cell.value, cell.unit)))


def _title(cell: Cell) -> str:
    """The reason of what did not pass, for who points at it."""
    if cell.verdict in _QUIET:
        return ""
    return str(format_html(' title="{}"', cell.reason))


_QUIET: Mapping[str, None] = dict.fromkeys(("", "passed", "measured"))
