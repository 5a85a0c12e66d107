"""Recorded tool outputs, each beside a note of what a parser must find in it."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from burnin.hardware_tests.parsers.registry import PARSERS

SHIPPED = Path(__file__).resolve().parents[4] / "fixtures" / "corpus"


@dataclass(frozen=True)
class Recording:
    path: Path
    expected: dict[str, Any] | None
    expected_error: dict[str, str] | None

    @property
    def tool(self) -> str:
        return self.path.parent.name

    @property
    def text(self) -> str:
        return self.path.read_text()

    def __str__(self) -> str:
        return f"{self.tool}/{self.path.name}"


def recordings() -> list[Recording]:
    """Return the shipped recordings and those under CORPUS_DIR, of the tools we parse."""
    roots = [SHIPPED, *(Path(root) for root in [os.environ.get("CORPUS_DIR", "")] if root)]
    return [
        _recording(note)
        for root in roots
        for tool in PARSERS
        for note in sorted((root / tool).glob("*.meta.json"))
    ]


def _recording(note: Path) -> Recording:
    found = json.loads(note.read_text())
    path = note.with_name(note.name.removesuffix(".meta.json"))
    return Recording(path, found.get("expected"), found.get("expected_error"))
