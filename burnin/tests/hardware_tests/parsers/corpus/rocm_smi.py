from __future__ import annotations

from typing import Any

from burnin.hardware_tests.parsers.rocm_smi import RocmSmiReport


def as_expected(report: RocmSmiReport) -> dict[str, Any]:
    first = report.cards[0]
    return {
        "cards": [f"card{card.index}" for card in report.cards],
        "card0_edge_temp_C": first.edge_temperature_c,
        "card0_junction_temp_C": first.junction_temperature_c,
        "card0_power_W": first.power_w,
        "card0_gpu_use_percent": first.utilization_percent,
        "card0_pcie_replay": first.pcie_replays,
    }
