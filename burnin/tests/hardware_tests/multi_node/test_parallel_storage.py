"""What reports of a shared file system are taken for, and what is refused in them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from burnin.hardware_tests.evaluation import EvaluationStatus, NotMeasured
from burnin.hardware_tests.multi_node.parallel_storage import (
    ParallelStorage,
    ParallelStorageMetrics,
)
from burnin.hardware_tests.parsers.refusal import ParseError
from burnin.tests.hardware_tests.parsers.corpus.recordings import SHIPPED
from burnin.tests.hardware_tests.single_node.attempts import (
    canned_attempt,
    judged,
    made_up_attempt,
)

SLUG = ParallelStorage.slug
PARAMS = {"path": "/shared/scratch", "duration_s": 1}
VERIFIED = (SHIPPED / "ior/ior_data_verify_ok.txt").read_text()
WRONG_DATA = VERIFIED.replace(
    "\nSummary", "\nWARNING: Incorrect data on read (16 errors found).\nSummary", 1
)
UNCHECKED = VERIFIED.replace(" -W -R ", " ")
READ_ERROR = (
    "ERROR: read(12, 0x7f, 1048576) failed. Error: Input/output error, (aiori-POSIX.c:616)\n"
)
MANY = (SHIPPED / "mdtest/mdtest_files_3901B.txt").read_text()


def fio_files(name: str = "pass") -> dict[str, str]:
    phases = ("fill", "verify", "write", "read")
    with canned_attempt(SLUG, name) as collector:
        texts = {
            f"fio-{phase}.json": collector.get_custom_file(f"fio-{phase}.json").read_text()
            for phase in phases
        }
    return {"tool.txt": "fio\n", **texts}


def measured(tmp_path: Path, files: dict[str, str]) -> ParallelStorageMetrics:
    nodes = [f"node-{number}" for number in range(1, 5)]
    attempt = made_up_attempt(tmp_path, files, params=PARAMS, node_names=nodes)
    metrics = ParallelStorage().measure(attempt)
    assert isinstance(metrics, ParallelStorageMetrics)
    return metrics


def ior_files(**changes: str) -> dict[str, str]:
    given = {"easy": VERIFIED, "hard": VERIFIED, "mdtest": MANY, **changes}
    return {
        "tool.txt": "ior\n",
        "ior-easy.txt": given["easy"],
        "ior-hard.txt": given["hard"],
        "mdtest.txt": given["mdtest"],
    }


def changed(text: str, change: Any) -> str:
    """Change every job of one of fio's reports."""
    start = text.index("{")
    document = json.loads(text[start:])
    document["client_stats"] = [
        each for job in document["client_stats"] if (each := change(job)) is not None
    ]
    return text[:start] + json.dumps(document)


def error(number: int) -> Any:
    return lambda job: {**job, "error": number} if job["jobname"] == "node-3" else job


def test_fio_gives_the_sum_and_names_the_slowest(tmp_path: Path) -> None:
    metrics = measured(tmp_path, fio_files())

    assert metrics.write_bandwidth == pytest.approx(1.51966039)
    assert metrics.details["write_bandwidth"].startswith("slowest node-4 0.2")
    assert metrics.create_rate is None
    assert judged(SLUG, metrics).passed


def test_data_that_changed_fails_and_names_reader_writer_and_place(tmp_path: Path) -> None:
    result = judged(SLUG, measured(tmp_path, fio_files("fault")))

    assert result.status is EvaluationStatus.FAILED
    assert result.reason.startswith(
        "Wrong data and I/O errors 1, allows at most 0 (/shared/scratch: verify: node-1 met error"
        " 84, data came back changed, in what node-2 wrote: crc32c: verify failed at file node-2"
    )


@pytest.mark.parametrize(("number", "words"), [(5, "Input/output"), (116, "Stale file handle")])
def test_an_io_error_is_a_fault_and_its_phase_has_no_speed(
    tmp_path: Path, number: int, words: str
) -> None:
    files = fio_files()
    files["fio-write.json"] = changed(files["fio-write.json"], error(number))

    metrics = measured(tmp_path, files)

    assert metrics.write_bandwidth is None
    assert metrics.read_bandwidth
    assert f"write: node-3 met error {number}, {words}" in metrics.details["integrity_errors"]
    assert "in node-3's own file" in metrics.details["integrity_errors"]


def _dead(job: dict[str, Any]) -> dict[str, Any]:
    return {**_idle(job), "error": 5}


def test_an_io_error_before_anything_was_read_is_a_fault(tmp_path: Path) -> None:
    files = fio_files()
    files["fio-verify.json"] = changed(files["fio-verify.json"], _dead)

    metrics = measured(tmp_path, files)

    assert metrics.integrity_errors == 4
    assert judged(SLUG, metrics).status is EvaluationStatus.FAILED


@pytest.mark.parametrize("number", [2, 13, 22, 28])
def test_what_fio_could_not_do_is_no_fault(tmp_path: Path, number: int) -> None:
    files = fio_files()
    files["fio-fill.json"] = changed(files["fio-fill.json"], error(number))

    with pytest.raises(NotMeasured, match=f"fio could not fill on node-3: error {number}, "):
        measured(tmp_path, files)


def _without_node_2(job: dict[str, Any]) -> dict[str, Any] | None:
    return None if job["jobname"] == "node-2" else job


def _idle(job: dict[str, Any]) -> dict[str, Any]:
    return {**job, "read": {**job["read"], "io_bytes": 0, "bw_bytes": 0, "total_ios": 0}}


def _half(job: dict[str, Any]) -> dict[str, Any]:
    return {**job, "read": {**job["read"], "io_bytes": job["read"]["io_bytes"] // 2}}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_without_node_2, "ran on node-.*, not once on each node"),
        (_idle, "moved nothing in fio's verify phase"),
        (_half, "fio verified 536870912 bytes of 1073741824 written"),
    ],
)
def test_less_than_everything_verified_is_no_measurement(
    tmp_path: Path, change: Any, words: str
) -> None:
    files = fio_files()
    files["fio-verify.json"] = changed(files["fio-verify.json"], change)

    with pytest.raises(NotMeasured, match=words):
        measured(tmp_path, files)


def test_ior_and_mdtest_give_speeds_and_creates(tmp_path: Path) -> None:
    metrics = measured(tmp_path, ior_files())

    assert metrics.read_bandwidth == pytest.approx(4849.96 * (1 << 20) / 1e9)
    assert metrics.shared_write_bandwidth == pytest.approx(1468.98 * (1 << 20) / 1e9)
    assert metrics.create_rate == pytest.approx(20072.282)
    assert metrics.fingerprint
    assert judged(SLUG, metrics).passed


def test_wrong_data_that_ior_counts_fails_though_it_ends_well(tmp_path: Path) -> None:
    result = judged(SLUG, measured(tmp_path, ior_files(hard=WRONG_DATA)))

    assert result.status is EvaluationStatus.FAILED
    assert "(/shared/scratch: ior-hard: 16 pieces of wrong data)" in result.reason


def test_an_io_error_that_ends_ior_is_a_fault(tmp_path: Path) -> None:
    metrics = measured(tmp_path, ior_files(easy=READ_ERROR))

    assert metrics.write_bandwidth is None
    assert metrics.integrity_errors == 1
    assert judged(SLUG, metrics).status is EvaluationStatus.FAILED


@pytest.mark.parametrize(
    ("files", "words"),
    [
        (ior_files(easy=(SHIPPED / "ior/ior_missing_directory.txt").read_text()), "No such file"),
        (ior_files(easy=(SHIPPED / "ior/ior_bad_blocksize.txt").read_text()), "ior-easy.txt: "),
        (ior_files(hard=VERIFIED[:1500]), "ior-hard.txt: IOR's report stops before"),
        (ior_files(easy=UNCHECKED), "did not compare what it read"),
        (ior_files(mdtest=""), "mdtest.txt: empty output"),
        ({"tool.txt": "dd\n"}, "tool.txt names 'dd', not fio or ior"),
    ],
)
def test_what_ior_could_not_do_is_no_measurement(
    tmp_path: Path, files: dict[str, str], words: str
) -> None:
    with pytest.raises((NotMeasured, ParseError), match=words):
        measured(tmp_path, files)
