"""One check read from what a node would have sent."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from burnin.hardware_tests.single_node.health.catalogue import CHECKS
from burnin.hardware_tests.single_node.health.params import NodeHealthParams
from burnin.hardware_tests.single_node.health.section import Found, Section
from burnin.tests.hardware_tests.single_node.attempts import made_up_attempt

NO_FILES: Mapping[str, str] = {}


def read(check: str, found: object, directory: Path, files: Mapping[str, str] = NO_FILES) -> Found:
    artifacts = made_up_attempt(directory, files, params={})
    section = Section(CHECKS[check].section, found, artifacts, NodeHealthParams())
    return CHECKS[check].read(section)


def said(check: str, text: str, directory: Path, *, exit_code: int = 0, words: str = "") -> Found:
    """Read a check that one call of a tool answers."""
    file = f"{CHECKS[check].section}.txt"
    return read(check, ended(exit_code, words), directory, {file: text})


def ended(exit_code: int = 0, words: str = "") -> dict[str, Any]:
    return {"exit_code": exit_code, "hung_s": None, "words": words}
