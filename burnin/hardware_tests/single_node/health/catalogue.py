"""Each check by name: which section of the report it reads, how, and which metric it becomes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from burnin.hardware_tests.single_node.health import (
    amd,
    board,
    boot,
    drives,
    gpus,
    kernel,
    links,
    machine,
    network,
    settings,
)
from burnin.hardware_tests.single_node.health.section import Reader
from runner.contract.health import SECTION_OF


@dataclass(frozen=True)
class HealthCheck:
    section: str
    metric: str
    read: Reader


_METRICS = {"filesystems": "unwritable_filesystems"}  # every other metric is called as its check
_READERS: dict[str, Reader] = {
    **kernel.READERS,
    **gpus.READERS,
    **links.READERS,
    **amd.READERS,
    **network.READERS,
    **board.READERS,
    **machine.READERS,
    **settings.READERS,
    **boot.READERS,
    **drives.READERS,
}

CHECKS: Mapping[str, HealthCheck] = MappingProxyType(
    {
        name: HealthCheck(SECTION_OF[name], _METRICS.get(name, name), read)
        for name, read in _READERS.items()
    }
)
