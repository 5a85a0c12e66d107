from __future__ import annotations

from typing import Any

from burnin.hardware_tests.parsers.nvme import NvmeSmartLog


def as_expected(log: NvmeSmartLog) -> dict[str, Any]:
    return {
        "critical_warning": log.critical_warning,
        "temperature_K": log.temperature_k,
        "temperature_C": log.temperature_c,
        "percent_used": log.used_percent,
        "media_errors": log.media_errors,
    }
