"""Every tool whose output `hardware_tests parse` reads: the tests' tools and Slurm's commands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from burnin.hardware_tests.parsers import registry
from burnin.slurm import parsers as slurm

if TYPE_CHECKING:
    from burnin.hardware_tests.parsers.registry import Parser

TOOLS: Mapping[str, Parser] = dict(sorted({**registry.PARSERS, **slurm.PARSERS}.items()))
