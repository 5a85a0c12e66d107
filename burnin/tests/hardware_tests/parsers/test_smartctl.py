from __future__ import annotations

import json
from typing import Any

import pytest

from burnin.hardware_tests.parsers import smartctl
from burnin.hardware_tests.parsers.refusal import RefusalKind
from burnin.tests.hardware_tests.parsers.shipped import refusal_of

LOG = {
    "critical_warning": 0, "temperature": 37, "available_spare": 100,
    "available_spare_threshold": 10, "percentage_used": 2, "media_errors": 0,
    "num_err_log_entries": 1, "unsafe_shutdowns": 3,
}  # fmt: skip


def report(**changes: Any) -> str:
    whole = {
        "smartctl": {"exit_status": 0},
        "device": {"name": "/dev/nvme0", "protocol": "NVMe"},
        "smart_status": {"passed": True},
        "nvme_smart_health_information_log": LOG,
        **changes,
    }
    return json.dumps({key: value for key, value in whole.items() if value is not None})


def test_the_health_of_an_nvme_drive_is_read() -> None:
    drive = smartctl.parse(report())

    assert drive.passed and drive.nvme is not None and drive.ata is None
    assert (drive.nvme.used_percent, drive.nvme.spare_is_used_up) == (2, False)


def test_a_drive_that_passes_may_have_used_up_its_spare() -> None:
    worn = smartctl.parse(report(nvme_smart_health_information_log={**LOG, "available_spare": 5}))

    assert worn.passed and worn.nvme is not None and worn.nvme.spare_is_used_up


def test_a_spare_that_is_not_told_is_unknown() -> None:
    log = {key: value for key, value in LOG.items() if "spare" not in key}

    drive = smartctl.parse(report(nvme_smart_health_information_log=log))

    assert drive.nvme is not None and drive.nvme.spare_is_used_up is None


def test_the_attributes_of_an_ata_drive_are_read_by_number() -> None:
    table = [{"id": 5, "raw": {"value": 8}}, {"id": 197, "raw": {"value": 0}}]

    drive = smartctl.parse(
        report(nvme_smart_health_information_log=None, ata_smart_attributes={"table": table})
    )

    assert drive.ata is not None
    assert (drive.ata.reallocated_sectors, drive.ata.pending_sectors) == (8, 0)
    assert drive.ata.crc_errors is None


def test_without_a_verdict_none_is_made_up() -> None:
    assert smartctl.parse(report(smart_status=None)).passed is None


@pytest.mark.parametrize("field", ["critical_warning", "media_errors"])
def test_a_log_that_lacks_what_decides_is_refused(field: str) -> None:
    log = {key: value for key, value in LOG.items() if key != field}

    refused = refusal_of(smartctl.parse, report(nvme_smart_health_information_log=log))

    assert refused.kind is RefusalKind.MALFORMED and field in refused.reason


@pytest.mark.parametrize(
    ("status", "words", "kind"),
    [
        (1, "/dev/vda: Unable to detect device type", "no_device"),
        (1, "unrecognized option", "usage"),
        (2, "Smartctl open device: /dev/nvme0 failed", "no_device"),
        (4, "Read NVMe SMART/Health Information failed", "no_data"),
    ],
)
def test_a_drive_that_cannot_be_read_is_refused_by_kind(status: int, words: str, kind: str) -> None:
    run = {"exit_status": status, "messages": [{"string": words, "severity": "error"}]}

    refused = refusal_of(
        smartctl.parse, report(smartctl=run, nvme_smart_health_information_log=None)
    )

    assert (refused.kind, refused.reason, refused.facts) == (kind, words, {"exit_status": status})
