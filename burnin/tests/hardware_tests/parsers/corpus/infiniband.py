from __future__ import annotations

from typing import Any

from burnin.hardware_tests.parsers.infiniband import (
    InfinibandAdapter,
    InfinibandPort,
    InfinibandReport,
)
from burnin.tests.hardware_tests.parsers.corpus.comparison import Whole

EXPECTED_BITS_PER_S = 400e9


def as_expected(report: InfinibandReport) -> dict[str, Any]:
    """An only port bears its adapter's name, one of several a number besides."""
    single = [adapter for adapter in report.adapters if len(adapter.ports) == 1]
    several = [adapter for adapter in report.adapters if len(adapter.ports) > 1]
    ports = [(adapter, port) for adapter in single for port in adapter.ports]
    on_infiniband = [(ca, port) for ca, port in ports if port.link_layer == "InfiniBand"]
    slow = [ca for ca, port in on_infiniband if port.rate_bits_per_s < EXPECTED_BITS_PER_S]
    return {
        "ports": Whole(
            {ca.name: [*_states(port), port.rate_bits_per_s / 1e9] for ca, port in ports}
            | {
                f"{ca.name}/{port.number}": [*_states(port), port.link_layer]
                for ca in several
                for port in ca.ports
            }
        ),
        "ib_ports_not_active": [ca.name for ca, port in on_infiniband if not port.is_up],
        "ib_rate_below_400": [ca.name for ca in slow],
        "ethernet": [ca.name for ca, port in ports if port.link_layer == "Ethernet"],
        "fw_versions": _firmware([ca for ca, _ in on_infiniband]),
    }


def _states(port: InfinibandPort) -> list[str]:
    return [port.state, port.physical_state]


def _firmware(adapters: list[InfinibandAdapter]) -> list[str]:
    return list(dict.fromkeys(adapter.firmware_version for adapter in adapters))
