from __future__ import annotations

from pathlib import Path

import pytest

from burnin.hardware_tests.artifacts import MissingArtifact
from burnin.hardware_tests.evaluation import EvaluationStatus, NotMeasured
from burnin.hardware_tests.parsers.refusal import ParseError
from burnin.hardware_tests.single_node.memory_stress import MemoryStress, MemoryStressMetrics
from burnin.tests.hardware_tests.parsers.corpus.recordings import SHIPPED
from burnin.tests.hardware_tests.single_node.attempts import judged, made_up_attempt

RECORDED = SHIPPED / "stressapptest"
PASSED = (RECORDED / "pass_6s.txt").read_text()
FAULTY = (RECORDED / "force_errors.txt").read_text()


def extracted(directory: Path, log: str, *, duration_s: int = 6) -> MemoryStressMetrics:
    attempt = made_up_attempt(
        directory, {"stressapptest.txt": log}, params={"duration_s": duration_s}
    )
    return MemoryStress().extract_metrics(attempt)


def test_good_memory_passes(tmp_path: Path) -> None:
    metrics = extracted(tmp_path, PASSED)

    assert metrics.memory_errors == 0
    assert metrics.tested_memory == 0.125
    assert metrics.copy_bandwidth == pytest.approx(11.621, abs=1e-3)
    result = judged(MemoryStress.slug, metrics)
    assert result.passed and result.reason == "Memory errors 0, allows at most 0"


def test_bad_memory_fails_and_names_cpu_and_dimm(tmp_path: Path) -> None:
    result = judged(MemoryStress.slug, extracted(tmp_path, FAULTY))

    assert result.status is EvaluationStatus.FAILED
    assert result.reason.startswith(
        "Memory errors 1, allows at most 0 (miscompare on CPU 0(0x1) at "
        "0x7f4193686e00(0x42d6b1:DIMM Unknown): "
    )


def test_a_thousand_faults_still_fit_into_the_detail(tmp_path: Path) -> None:
    line = next(each for each in FAULTY.splitlines() if each.startswith("Hardware Error"))

    metrics = extracted(tmp_path, FAULTY.replace(line, "\n".join([line] * 1000)))

    assert len(metrics.details["memory_errors"].encode()) <= 2048


def test_a_procedural_error_is_not_a_fault(tmp_path: Path) -> None:
    log = (RECORDED / "more_memory_than_there_is.txt").read_text()

    with pytest.raises(ParseError, match="procedural errors"):
        extracted(tmp_path, log)


def test_an_interrupted_run_that_says_pass_is_refused(tmp_path: Path) -> None:
    log = (RECORDED / "interrupted_says_pass.txt").read_text()

    with pytest.raises(NotMeasured) as refused:
        extracted(tmp_path, log, duration_s=20)

    assert str(refused.value) == (
        "stressapptest stopped after 3 s of 20 s: memory was not tested as long as asked"
    )


def test_a_run_shorter_than_asked_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotMeasured, match="stopped after 10 s of 3600 s"):
        extracted(tmp_path, PASSED, duration_s=3600)


def test_a_fault_counts_however_short_the_run(tmp_path: Path) -> None:
    metrics = extracted(tmp_path, FAULTY, duration_s=3600)

    assert judged(MemoryStress.slug, metrics).status is EvaluationStatus.FAILED


def test_a_cut_log_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParseError, match="ends before its Status line"):
        extracted(tmp_path, PASSED[: PASSED.index("Status:")])


def test_a_missing_log_is_refused(tmp_path: Path) -> None:
    attempt = made_up_attempt(tmp_path, {}, params={"duration_s": 6})

    with pytest.raises(MissingArtifact, match=r"left no stressapptest\.txt"):
        MemoryStress().extract_metrics(attempt)


def test_a_run_that_does_not_say_what_was_asked_is_refused(tmp_path: Path) -> None:
    attempt = made_up_attempt(tmp_path, {"stressapptest.txt": PASSED}, params=None)

    with pytest.raises(NotMeasured, match="does not say which params"):
        MemoryStress().extract_metrics(attempt)


def test_a_run_with_params_of_another_test_is_refused(tmp_path: Path) -> None:
    attempt = made_up_attempt(tmp_path, {"stressapptest.txt": PASSED}, params={"checks": []})

    with pytest.raises(NotMeasured, match=r"params in metadata\.json do not fit the test: checks"):
        MemoryStress().extract_metrics(attempt)
