from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from burnin.hardware_tests.artifacts import MissingArtifact
from burnin.hardware_tests.evaluation import EvaluationStatus, NotMeasured
from burnin.hardware_tests.params import BadParams, parse_params
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind
from burnin.hardware_tests.single_node.storage import Storage, StorageMetrics
from burnin.tests.hardware_tests.parsers.corpus.recordings import SHIPPED
from burnin.tests.hardware_tests.single_node.attempts import judged, made_up_attempt

ENOSPC = (SHIPPED / "fio" / "enospc_json_with_error.txt").read_text()
_SEQREAD = json.loads((SHIPPED / "fio" / "seqread_json.json").read_text())

DIRECTORY = {"target": "directory", "path": "/tmp", "duration_s": 1}
DEVICE = {"target": "device", "path": "/dev/nvme0n1", "duration_s": 1}


def report(*, side: str = "read", error: int = 0, **changes: Any) -> str:
    """Return a real report, its measurement put on one side and changed."""
    document = json.loads(json.dumps(_SEQREAD))
    job = document["jobs"][0]
    measured, idle = job["read"], job["write"]
    job["read"], job["write"] = (measured, idle) if side == "read" else (idle, measured)
    job["error"] = error
    measured.update(changes)
    return json.dumps(document, indent=2)


def reports(**others: str) -> dict[str, str]:
    """Return the four reports of a directory; `others` replaces some of them."""
    good = {
        "write": report(side="write", bw_bytes=900_000_000),
        "verify": report(),
        "read": report(),
        "randread": report(iops=90_000.0),
    }
    return {f"fio-{name}.json": text for name, text in {**good, **others}.items()}


def extracted(
    directory: Path, files: dict[str, str], params: dict[str, Any] = DIRECTORY
) -> StorageMetrics:
    return Storage().extract_metrics(made_up_attempt(directory, files, params=params))


def test_good_storage_passes_and_shows_its_speeds(tmp_path: Path) -> None:
    metrics = extracted(tmp_path, reports())

    assert metrics.read_bandwidth == pytest.approx(1.144437866)
    assert metrics.write_bandwidth == pytest.approx(0.9)
    assert metrics.random_reads == 90_000
    assert metrics.read_latency == pytest.approx(13.632)
    result = judged(Storage.slug, metrics)
    assert result.passed and result.reason == "Phases with I/O errors 0, allows at most 0"


def test_a_device_is_read_only_and_has_no_write_bandwidth(tmp_path: Path) -> None:
    files = {name: text for name, text in reports().items() if "read" in name}

    metrics = extracted(tmp_path, files, DEVICE)

    assert metrics.write_bandwidth is None and metrics.read_bandwidth is not None
    assert judged(Storage.slug, metrics).passed


@pytest.mark.parametrize("error", [5, 61, 84, 110, 121])
def test_an_io_error_fails_and_its_speed_is_not_shown(tmp_path: Path, error: int) -> None:
    metrics = extracted(tmp_path, reports(read=report(error=error)))

    assert metrics.io_errors == 1 and metrics.read_bandwidth is None
    result = judged(Storage.slug, metrics)
    assert result.status is EvaluationStatus.FAILED
    assert result.reason.startswith(
        f"Phases with I/O errors 1, allows at most 0 (/tmp: read: error {error}, "
    )


def test_changed_data_fails_with_fios_own_words(tmp_path: Path) -> None:
    words = "crc32c: verify failed at file /scratch/f offset 983040, length 65536\n"

    metrics = extracted(tmp_path, reports(verify=words + report(error=84)))

    assert metrics.details["io_errors"] == (
        "/tmp: verify: error 84, data came back changed: "
        "crc32c: verify failed at file /scratch/f offset 983040, length 65536"
    )


def test_every_phase_with_an_error_counts(tmp_path: Path) -> None:
    metrics = extracted(
        tmp_path, reports(verify=report(error=84), randread=report(error=5), read=report(error=5))
    )

    assert metrics.io_errors == 3
    assert metrics.random_reads is None and metrics.read_latency is None


@pytest.mark.parametrize(("error", "words"), [(2, "No such"), (13, "denied"), (22, "Invalid")])
def test_an_error_of_ours_is_no_fault(tmp_path: Path, error: int, words: str) -> None:
    with pytest.raises(NotMeasured, match=rf"fio could not read: error {error}, .*{words}"):
        extracted(tmp_path, reports(read=report(error=error)))


def test_a_full_filesystem_is_no_fault_and_no_speed(tmp_path: Path) -> None:
    with pytest.raises(NotMeasured) as refused:
        extracted(tmp_path, reports(write=ENOSPC))

    assert str(refused.value) == "fio could not write: error 28, No space left on device"


@pytest.mark.parametrize("changes", [{"total_ios": 0}, {"io_bytes": 0}])
def test_a_phase_that_moved_nothing_is_refused(tmp_path: Path, changes: dict[str, Any]) -> None:
    with pytest.raises(NotMeasured, match="moved nothing in its read phase"):
        extracted(tmp_path, reports(read=report(**changes)))


def test_a_report_of_the_wrong_direction_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotMeasured, match="moved nothing in its write phase"):
        extracted(tmp_path, reports(write=report(side="read")))


@pytest.mark.parametrize("changes", [{"runtime": 0}, {"bw_bytes": 0}])
def test_a_speed_without_time_is_refused(tmp_path: Path, changes: dict[str, Any]) -> None:
    with pytest.raises(NotMeasured, match="read phase took no time"):
        extracted(tmp_path, reports(read=report(**changes)))


def test_a_report_without_the_percentile_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotMeasured, match="randread report has no 99th percentile"):
        extracted(tmp_path, reports(randread=report(clat_ns=None)))


def test_a_cut_report_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(ParseError, match=r"fio-verify\.json: fio's JSON report is cut") as refused:
        extracted(tmp_path, reports(verify=report()[:900]))

    assert refused.value.kind is RefusalKind.TRUNCATED


@pytest.mark.parametrize("phase", ["write", "verify", "read", "randread"])
def test_a_missing_phase_is_refused_by_name(tmp_path: Path, phase: str) -> None:
    files = reports()
    del files[f"fio-{phase}.json"]

    with pytest.raises(MissingArtifact, match=rf"left no fio-{phase}\.json"):
        extracted(tmp_path, files)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"path": "tmp"}, "starts with /"),
        ({"path": "/tmp\n"}, "no control characters"),
        ({"target": "device"}, "the device /tmp must be named below /dev/"),
        ({"target": "tape"}, "'directory' or 'device'"),
        ({"duration_s": 0}, "greater than or equal to 1"),
        ({"size_gib": 4}, "there is no param 'size_gib'"),
    ],
)
def test_bad_params_are_refused_in_a_sentence(params: dict[str, Any], words: str) -> None:
    with pytest.raises(BadParams) as refused:
        parse_params(Storage, params)

    assert words in str(refused.value)
