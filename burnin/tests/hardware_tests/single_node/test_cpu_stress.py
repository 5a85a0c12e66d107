from __future__ import annotations

from pathlib import Path

import pytest

from burnin.hardware_tests.artifacts import MissingArtifact
from burnin.hardware_tests.evaluation import EvaluationStatus, NotMeasured
from burnin.hardware_tests.parsers.refusal import ParseError
from burnin.hardware_tests.single_node.cpu_stress import CpuStress, CpuStressMetrics
from burnin.tests.hardware_tests.parsers.corpus.recordings import SHIPPED
from burnin.tests.hardware_tests.single_node.attempts import judged, made_up_attempt

RECORDED = SHIPPED / "stress-ng"
PASSED = (RECORDED / "pass_2s.txt").read_text()
FAULTY = (RECORDED / "wrong_values.txt").read_text()


def extracted(directory: Path, log: str, *, duration_s: int = 2) -> CpuStressMetrics:
    params = {"duration_s": duration_s}
    attempt = made_up_attempt(directory, {"stress-ng.txt": log}, params=params)
    return CpuStress().extract_metrics(attempt)


def test_good_cpus_pass(tmp_path: Path) -> None:
    metrics = extracted(tmp_path, PASSED)

    assert metrics.stressed_cpus == 1
    assert metrics.cpu_time == pytest.approx(100 * 0.41 / 2.08)
    assert judged(CpuStress.slug, metrics).passed


def test_wrong_values_fail_in_the_tools_own_words(tmp_path: Path) -> None:
    result = judged(CpuStress.slug, extracted(tmp_path, FAULTY))

    assert result.status is EvaluationStatus.FAILED
    assert result.reason.startswith(
        "Wrong values 10, allows at most 0 (cpu: stats: harmonic mean 0.180440 > "
    )
    assert "2 of 2 workers" in result.reason


def test_a_fault_counts_however_short_the_run(tmp_path: Path) -> None:
    metrics = extracted(tmp_path, FAULTY, duration_s=3600)

    assert judged(CpuStress.slug, metrics).status is EvaluationStatus.FAILED


def test_an_interrupted_run_that_says_success_is_refused(tmp_path: Path) -> None:
    log = (RECORDED / "interrupted_says_successful.txt").read_text()

    with pytest.raises(NotMeasured, match=r"stopped after 1\.19 s of 33 s"):
        extracted(tmp_path, log, duration_s=33)


def test_a_killed_worker_is_no_measurement(tmp_path: Path) -> None:
    with pytest.raises(ParseError, match="a worker of stress-ng ended before its time"):
        extracted(tmp_path, (RECORDED / "worker_killed.txt").read_text())


def test_a_missing_log_is_refused(tmp_path: Path) -> None:
    attempt = made_up_attempt(tmp_path, {}, params={"duration_s": 2})

    with pytest.raises(MissingArtifact, match=r"left no stress-ng\.txt"):
        CpuStress().extract_metrics(attempt)
