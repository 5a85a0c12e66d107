"""What was changed in a preset, by whom and when: its own fields, its steps, what it accepts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from burnin.models import Acceptance, Preset, PresetStep

_DONE = {"+": "added", "-": "removed"}


@dataclass(frozen=True)
class Change:
    """One line: what, and how it was before and after, in words."""

    at: datetime
    by: str
    what: str
    words: str


def changes_of(preset: Preset) -> list[Change]:
    """Return every change, the newest first, in three queries."""
    own = Preset.history.filter(id=preset.pk).select_related("history_user")
    steps = PresetStep.history.filter(preset_id=preset.pk).select_related("history_user")
    accepted = Acceptance.history.filter(preset_id=preset.pk).select_related(
        "history_user", "resource_class"
    )
    found = [
        *_changes(own.order_by("history_date", "history_id")),
        *_changes(steps.order_by("history_date", "history_id")),
        *_changes(accepted.order_by("history_date", "history_id")),
    ]
    return sorted(found, key=lambda each: each.at, reverse=True)


def _changes(rows: Iterable[Any]) -> Iterable[Change]:
    before: dict[int, Any] = {}
    for row in rows:
        words = _words(before.get(row.id), row)
        before[row.id] = row
        if words:
            by = row.history_user.get_username() if row.history_user else "a program"
            yield Change(row.history_date, by, _what(row), words)


def _what(row: Any) -> str:
    if row.instance_type is PresetStep:
        return f"step {row.position}, {row.slug}"
    if row.instance_type is Acceptance:
        return f"accepts {_value(row, 'resource_class')}"
    return f"preset {row.name}"


def _words(before: Any, row: Any) -> str:
    if row.history_type in _DONE or before is None:
        return _DONE.get(row.history_type, "added")
    names = [each.name for each in row.tracked_fields if each.name not in ("id", "preset")]
    values = [(name, _value(before, name), _value(row, name)) for name in names]
    return "; ".join(f"{name} {was!r} → {now!r}" for name, was, now in values if was != now)


def _value(row: Any, name: str) -> Any:
    """Return a field's value; of a class that may be gone meanwhile, its name."""
    value = getattr(row, name)
    if name != "resource_class":
        return value
    return value.name if value else "a class that is no more"
