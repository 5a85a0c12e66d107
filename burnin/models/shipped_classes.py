"""Rows of the classes that a release ships: what they are made of stands in one table."""

from __future__ import annotations

from burnin.hardware_tests.resource_classes import HARDWARE
from fleet.models import ResourceClass


def shipped_class(name: str, description: str = "") -> ResourceClass:
    """Return a new row, unsaved; its hardware is not stated if no release ships the class."""
    stated = HARDWARE[name].as_json() if name in HARDWARE else {}
    return ResourceClass(name=name, description=description, **stated)
