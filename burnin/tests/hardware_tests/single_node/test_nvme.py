from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from burnin.hardware_tests.artifacts import MissingArtifact
from burnin.hardware_tests.evaluation import EvaluationStatus, NotMeasured
from burnin.hardware_tests.parsers.refusal import ParseError
from burnin.hardware_tests.single_node.nvme import Nvme, NvmeMetrics
from burnin.tests.hardware_tests.single_node.attempts import (
    CANNED,
    canned_attempt,
    judged,
    made_up_attempt,
)
from runner.contract.slugs import Slugs

PRINTED = CANNED.parent / "printed"
GOOD = json.loads((PRINTED / "smartctl_nvme_good.json").read_text())
NVME_CLI = {
    "critical_warning": 0,
    "temperature": 310,
    "avail_spare": 100,
    "spare_thresh": 10,
    "percent_used": 3,
    "media_errors": 0,
    "num_err_log_entries": 0,
    "unsafe_shutdowns": 0,
    "power_on_hours": 1,
    "data_units_read": 1,
    "data_units_written": 1,
}
SECOND = "nvme1n1, DRIVE MODEL 3840GB, serial SN-nvme1n1"

Change = Callable[[dict[str, str]], Any]


def extracted(directory: Path, change: Change = lambda files: None) -> NvmeMetrics:
    """Extract from the recorded pass of two drives, with files changed."""
    with canned_attempt(Slugs.NVME, "pass") as collector:
        files = {path.name: path.read_text() for path in collector.get_custom_files("*")}
    change(files)
    return Nvme().extract_metrics(made_up_attempt(directory, files, params={"duration_s": 1}))


def of_second_drive(**log: Any) -> Change:
    """Change the second drive's health log, or with `exit_status` how smartctl ended."""

    def change(files: dict[str, str]) -> None:
        report = json.loads(json.dumps(GOOD))
        report["smartctl"]["exit_status"] = log.pop("exit_status", 0)
        report["nvme_smart_health_information_log"].update(log)
        files["smartctl-nvme1n1.json"] = json.dumps(report)

    return change


def fio_of_second_drive(phase: str, edit: Callable[[Any], Any]) -> Change:
    def change(files: dict[str, str]) -> None:
        name = f"fio-{phase}-nvme1n1.json"
        report = json.loads(files[name])
        edit(report["jobs"][0])
        files[name] = json.dumps(report)

    return change


def test_two_good_drives_pass(tmp_path: Path) -> None:
    metrics = extracted(tmp_path)

    assert metrics.drive_count == 2 and metrics.wear == 2
    assert metrics.spread is not None and 0 < metrics.spread <= 100
    assert judged(Nvme.slug, metrics).passed


def test_the_slowest_drive_is_the_value_and_is_named(tmp_path: Path) -> None:
    slow = fio_of_second_drive("randread", lambda job: job["read"].update(iops=1000.0))

    metrics = extracted(tmp_path, slow)

    assert metrics.random_reads == 1000
    assert metrics.details["random_reads"] == SECOND
    assert metrics.spread is not None and metrics.spread < 50


@pytest.mark.parametrize(
    ("log", "words"),
    [
        ({"critical_warning": 4}, "critical warning 0x04"),
        ({"available_spare": 9}, "its spare is used up"),
        ({"exit_status": 8}, "smartctl says that it fails"),
        ({"exit_status": 128}, "a self-test failed"),
    ],
)
def test_a_drive_that_says_it_fails_is_named_with_its_reason(
    tmp_path: Path, log: dict[str, int], words: str
) -> None:
    result = judged(Nvme.slug, extracted(tmp_path, of_second_drive(**log)))

    assert result.status is EvaluationStatus.FAILED
    assert result.reason == f"Drives that say they fail 1, allows at most 0 ({SECOND}: {words})"


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        ({"media_errors": 3}, f"Worst drive, media errors 3, allows at most 0 ({SECOND})"),
        ({"percentage_used": 104}, f"Worst drive, life used 104 %, allows at most 100 ({SECOND})"),
    ],
)
def test_a_worn_drive_fails(tmp_path: Path, log: dict[str, int], reason: str) -> None:
    result = judged(Nvme.slug, extracted(tmp_path, of_second_drive(**log)))

    assert (result.status, result.reason) == (EvaluationStatus.FAILED, reason)


def test_a_command_that_failed_without_a_fault_is_none(tmp_path: Path) -> None:
    assert judged(Nvme.slug, extracted(tmp_path, of_second_drive(exit_status=4))).passed


def test_a_drive_with_io_errors_fails_and_is_not_the_slowest(tmp_path: Path) -> None:
    metrics = extracted(tmp_path, fio_of_second_drive("read", lambda job: job.update(error=5)))

    result = judged(Nvme.slug, metrics)
    assert result.status is EvaluationStatus.FAILED
    assert f"({SECOND}: read-nvme1n1: error 5, Input/output error)" in result.reason
    assert metrics.details["read_bandwidth"].startswith("nvme0n1, ")


def test_a_drive_that_may_not_be_read_is_no_measurement(tmp_path: Path) -> None:
    denied = fio_of_second_drive("read", lambda job: job.update(error=13))

    with pytest.raises(NotMeasured, match="fio could not read-nvme1n1: error 13"):
        extracted(tmp_path, denied)


def test_nvme_cli_stands_in_for_smartctl(tmp_path: Path) -> None:
    def change(files: dict[str, str]) -> None:
        del files["smartctl-nvme1n1.json"]
        files["nvme-nvme1n1.json"] = json.dumps({**NVME_CLI, "critical_warning": 1})

    metrics = extracted(tmp_path, change)

    assert metrics.wear == 3
    assert metrics.details["failing_drives"] == f"{SECOND}: critical warning 0x01"


@pytest.mark.parametrize(
    "log",
    [{"percentage_used": None}, {"available_spare": None}, {"available_spare_threshold": None}],
)
def test_a_drive_that_does_not_tell_is_no_measurement(tmp_path: Path, log: dict[str, None]) -> None:
    with pytest.raises(NotMeasured, match="smartctl tells too little of nvme1n1"):
        extracted(tmp_path, of_second_drive(**log))


@pytest.mark.parametrize("name", ["smartctl-nvme1n1.json", "fio-read-nvme1n1.json", "drives.json"])
def test_a_report_that_is_missing_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(MissingArtifact):
        extracted(tmp_path, lambda files: files.pop(name))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[]", "names no drive"),
        ('[{"name": "../x", "model": "m", "serial": "s"}]', "cannot be used"),
        ("{", "cannot be used"),
    ],
)
def test_a_list_of_drives_that_is_none_is_refused(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(NotMeasured, match=words):
        extracted(tmp_path, lambda files: files.update({"drives.json": text}))


def test_a_drive_that_is_listed_twice_is_refused(tmp_path: Path) -> None:
    def twice(files: dict[str, str]) -> None:
        drives = json.loads(files["drives.json"])
        files["drives.json"] = json.dumps([drives[0], drives[0]])

    with pytest.raises(NotMeasured, match="or one twice"):
        extracted(tmp_path, twice)


def test_a_health_report_that_is_cut_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParseError, match="the health of nvme1n1"):
        extracted(tmp_path, lambda files: files.update({"smartctl-nvme1n1.json": "{"}))
