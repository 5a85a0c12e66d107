from __future__ import annotations

import json
from pathlib import Path

import pytest

from burnin.hardware_tests.artifacts import MissingArtifact
from burnin.hardware_tests.evaluation import EvaluationStatus, NotMeasured
from burnin.hardware_tests.parsers.refusal import ParseError
from burnin.hardware_tests.single_node.hpl_cpu import HplCpu, HplCpuMetrics
from burnin.tests.hardware_tests.parsers.shipped import shipped
from burnin.tests.hardware_tests.single_node.attempts import (
    canned_attempt,
    judged,
    made_up_attempt,
)

PASSED = shipped("hpcc", "pass_openblas_np2.txt")
FAILED = shipped("hpcc", "residual_failed.txt")
NODE = {
    **{"n": 1536, "nb": 192, "p": 1, "q": 2, "ranks": 2},
    **{"blas": "libopenblasp-r0.3.21.so", "governors": ["powersave"], "load": 0.25},
}


def extracted(directory: Path, report: str, **node: object) -> HplCpuMetrics:
    files = {"hpccoutf.txt": report, "hpcc-node.json": json.dumps({**NODE, **node})}
    return HplCpu().extract_metrics(made_up_attempt(directory, files, params={}))


def test_a_good_node_passes_and_says_what_its_speed_depends_on(tmp_path: Path) -> None:
    metrics = extracted(tmp_path, PASSED)

    assert (metrics.throughput, metrics.slowest_core) == (6.075, 3.817989)
    assert metrics.core_spread == pytest.approx(5.315, abs=0.01)
    assert metrics.details["throughput"] == (
        "N=1536, libopenblasp-r0.3.21.so, governor powersave, load before it 0.25"
    )
    assert judged(HplCpu.slug, metrics).passed


def test_a_failed_residual_is_a_fault(tmp_path: Path) -> None:
    result = judged(HplCpu.slug, extracted(tmp_path, FAILED))

    assert result.status is EvaluationStatus.FAILED
    assert result.reason == (
        "Parts with wrong results 1, allows at most 0 (HPL: residual 0.0052904 FAILED at N=1536)"
    )


def test_a_residual_that_is_no_number_is_a_fault(tmp_path: Path) -> None:
    nan = FAILED.replace("0.0052904 ...... FAILED", "nan ...... FAILED")

    assert "residual nan FAILED" in judged(HplCpu.slug, extracted(tmp_path, nan)).reason


def test_what_any_other_part_found_wrong_is_a_fault(tmp_path: Path) -> None:
    wrong = PASSED.replace("Success=1", "Success=0")
    named = wrong.replace("Solution Validates: avg", "Failed Validation on array b[], ")

    assert "hpcc does not say which part" in judged(HplCpu.slug, extracted(tmp_path, wrong)).reason
    assert "(StarSTREAM)" in judged(HplCpu.slug, extracted(tmp_path, named)).reason


@pytest.mark.parametrize("other", [{"n": 3072}, {"nb": 128}, {"p": 2, "q": 1}, {"q": 4}])
def test_another_problem_than_asked_is_no_measurement(
    tmp_path: Path, other: dict[str, int]
) -> None:
    with pytest.raises(NotMeasured, match=r"hpcc was asked for N, NB, P, Q = .* and solved"):
        extracted(tmp_path, PASSED, **other)


def test_no_products_are_no_measurement(tmp_path: Path) -> None:
    with pytest.raises(NotMeasured, match="multiplied nothing"):
        extracted(tmp_path, PASSED.replace("Maximum Gflop/s 4.032307", "Maximum Gflop/s 0.0"))


def test_a_report_without_its_end_is_no_measurement(tmp_path: Path) -> None:
    with pytest.raises(ParseError):
        extracted(tmp_path, shipped("hpcc", "truncated_in_dgemm.txt"))


def test_a_missing_report_is_no_measurement(tmp_path: Path) -> None:
    attempt = made_up_attempt(tmp_path, {"hpcc-node.json": json.dumps(NODE)}, params={})

    with pytest.raises(MissingArtifact):
        HplCpu().extract_metrics(attempt)


def test_another_blas_is_another_fingerprint(tmp_path: Path) -> None:
    with canned_attempt(HplCpu.slug, "pass") as collector:
        versions = HplCpu().tool_versions(collector)

        assert HplCpu().measure(collector).fingerprint
    assert versions == {
        "mpirun": "mpirun (Open MPI) 4.1.4",
        "hpcc": "1.5.0",
        "blas": "libopenblasp-r0.3.21.so",
    }
