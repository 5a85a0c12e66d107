from __future__ import annotations

from typing import Any

from burnin.hardware_tests.parsers.pci import PciReport


def as_expected(report: PciReport) -> dict[str, Any]:
    gpus = [device for device in report.devices if device.is_gpu]
    return {
        "devices_with_downgraded_link": [
            device.address for device in report.devices if device.is_degraded
        ],
        "gpus": [gpu.address for gpu in gpus],
        "gpus_degraded": [gpu.address for gpu in gpus if gpu.is_degraded is not False],
    }
