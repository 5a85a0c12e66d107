from __future__ import annotations

import json
from typing import Any

import pytest

from burnin.hardware_tests.parsers import nvme
from burnin.hardware_tests.parsers.nvme import NvmeList, NvmeSmartLog
from burnin.hardware_tests.parsers.refusal import RefusalKind
from burnin.tests.hardware_tests.parsers.shipped import refusal_of

LOG = {
    "critical_warning": 0, "temperature": 310, "avail_spare": 100, "spare_thresh": 5,
    "percent_used": 2, "media_errors": 0, "num_err_log_entries": 1, "unsafe_shutdowns": 3,
    "power_on_hours": 9, "data_units_read": 2, "data_units_written": 1,
}  # fmt: skip


def log(**changes: Any) -> NvmeSmartLog:
    report = nvme.parse(json.dumps({**LOG, **changes}))
    assert isinstance(report, NvmeSmartLog)
    return report


def test_temperatures_are_kelvin() -> None:
    assert log().temperature_c == pytest.approx(36.85)


def test_a_temperature_of_zero_is_unknown() -> None:
    assert log(temperature=0).temperature_c is None


def test_a_temperature_in_celsius_is_refused() -> None:
    refused = refusal_of(nvme.parse, json.dumps({**LOG, "temperature": 37}))

    assert refused.kind is RefusalKind.CONTRADICTORY
    assert refused.reason == "nvme reports 37 kelvin; is that another unit?"


@pytest.mark.parametrize("warning", [4, "4", {"value": 4, "available_spare": 0}])
def test_the_critical_warning_is_a_number_in_every_shape(warning: Any) -> None:
    assert log(critical_warning=warning).critical_warning == 4


def test_a_data_unit_is_a_thousand_blocks() -> None:
    assert (log().data_read_bytes, log().data_written_bytes) == (1_024_000, 512_000)


@pytest.mark.parametrize("field", ["critical_warning", "media_errors", "avail_spare"])
def test_a_log_that_lacks_a_field_is_refused(field: str) -> None:
    kept = {key: value for key, value in LOG.items() if key != field}

    assert field in refusal_of(nvme.parse, json.dumps(kept)).reason


FLAT = {"DevicePath": "/dev/nvme0n1", "ModelNumber": "M", "SerialNumber": "S", "PhysicalSize": 9}
NESTED = {
    "Subsystems": [
        {
            "Controllers": [
                {
                    "ModelNumber": "M",
                    "SerialNumber": "S",
                    "Namespaces": [{"NameSpace": "nvme0n1", "PhysicalSize": 9}],
                }
            ]
        }
    ]
}


@pytest.mark.parametrize("device", [FLAT, NESTED], ids=["nvme-cli 1", "nvme-cli 2"])
def test_a_list_of_drives_is_read_in_both_generations(device: dict[str, Any]) -> None:
    report = nvme.parse(json.dumps({"Devices": [device]}))

    assert isinstance(report, NvmeList)
    [drive] = report.drives
    assert (drive.path, drive.model, drive.serial, drive.size_bytes) == (
        "/dev/nvme0n1",
        "M",
        "S",
        9,
    )


def test_an_empty_list_has_no_drive() -> None:
    assert nvme.parse('{"Devices": []}') == NvmeList(())


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("Failed to scan topology: No such file or directory\n", "no_device"),
        ("/dev/nvme0: Permission denied\n", "setup_error"),
        (
            "NVMe status: INVALID_LOG_PAGE: The log page indicated is invalid(0x4109)\n",
            "tool_error",
        ),
    ],
)
def test_a_drive_that_cannot_be_read_is_refused_by_kind(words: str, kind: str) -> None:
    refused = refusal_of(nvme.parse, words)

    assert refused.kind == kind and refused.reason in words
