from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from burnin.hardware_tests.evaluation import EvaluationStatus, NotMeasured
from burnin.hardware_tests.parsers.refusal import ParseError
from burnin.hardware_tests.single_node.dcgmi import Dcgmi, DcgmiMetrics
from burnin.tests.hardware_tests.parsers.corpus.recordings import SHIPPED
from burnin.tests.hardware_tests.single_node.attempts import judged
from burnin.tests.hardware_tests.single_node.gpu_attempts import gpu_attempt

RECORDED = SHIPPED / "dcgmi-diag"
PASSED = (RECORDED / "r3_v4_pass.json").read_text()
FAULTY = (RECORDED / "r3_v4_gpu1_fail.json").read_text()
TABLE = (RECORDED / "r3_v3_text_mixed_gpu_fail.txt").read_text()
MEMORY, CONFIG, LIBRARY, CUDA, EUD, INTERNAL = 10, 3, 4, 6, 7, 16  # error categories of DCGM
MONITOR, ISOLATE, TRIAGE = 1, 2, 4  # its severities


def extracted(directory: Path, text: str, *, level: int = 3, gpus: int = 2) -> DcgmiMetrics:
    files = {"dcgmi-diag.txt": text}
    return Dcgmi().extract_metrics(
        gpu_attempt(directory, files, gpus=gpus, params={"level": level})
    )


def diagnostic(**statuses: str | dict[str, Any]) -> str:
    """Return DCGM 4's JSON of two GPUs: a subtest's status, or what GPU 1 says beside GPU 0."""
    good = {"entity_group": "GPU", "entity_id": 0, "status": "Pass"}
    tests = [
        {
            "name": name,
            "results": [
                {**good, "status": said if isinstance(said, str) else "Pass"},
                {**good, "entity_id": 1, **({"status": said} if isinstance(said, str) else said)},
            ],
            "test_summary": {"status": said if isinstance(said, str) else said["status"]},
        }
        for name, said in statuses.items()
    ]
    return json.dumps(
        {
            "DCGM Diagnostic": {"test_categories": [{"category": "Hardware", "tests": tests}]},
            "entity_groups": [
                {"entity_group": "GPU", "entities": [{"entity_id": 0}, {"entity_id": 1}]}
            ],
        }
    )


def failing(category: int, severity: int) -> dict[str, Any]:
    warning = {"warning": "words", "error_category": category, "error_severity": severity}
    return {"status": "Fail", "warnings": [warning]}


def test_a_whole_diagnostic_passes(tmp_path: Path) -> None:
    metrics = extracted(tmp_path, PASSED)

    assert (metrics.passed_tests, metrics.warned_tests, metrics.gpu_count) == (8, 0, 2)
    assert metrics.details["passed_tests"] == "DCGM 4.2.3"
    assert judged(Dcgmi.slug, metrics).passed


def test_a_faulty_gpu_fails_in_dcgms_words(tmp_path: Path) -> None:
    metrics = extracted(tmp_path, FAULTY)

    assert (metrics.failed_tests, metrics.failed_gpus, metrics.warned_tests) == (2, 1, 1)
    assert metrics.details["warned_tests"].startswith("software: Persistence Mode: ")
    assert judged(Dcgmi.slug, metrics).reason.startswith(
        "Subtests that found a fault 2, allows at most 0 (GPU 1: memory: GPU 1 had uncorrectable"
        " memory errors and row remapping failed. Run a field diagnostic on the GPU. (ISOLATE); "
    )


def test_the_table_of_dcgm_3_fails_though_it_says_that_it_ran(tmp_path: Path) -> None:
    metrics = extracted(tmp_path, TABLE)

    assert (metrics.failed_tests, metrics.failed_gpus) == (2, 2)
    assert metrics.details["failed_gpus"] == "GPU 0, all GPUs"
    assert judged(Dcgmi.slug, metrics).status is EvaluationStatus.FAILED


@pytest.mark.parametrize(
    ("category", "severity"), [(MEMORY, TRIAGE), (EUD, ISOLATE), (CUDA, ISOLATE)]
)
def test_what_dcgm_holds_against_a_gpu_is_a_fault(
    tmp_path: Path, category: int, severity: int
) -> None:
    metrics = extracted(tmp_path, diagnostic(memory=failing(category, severity), pcie="Pass"))

    assert judged(Dcgmi.slug, metrics).status is EvaluationStatus.FAILED


@pytest.mark.parametrize(
    ("category", "severity"),
    [(CONFIG, MONITOR), (LIBRARY, ISOLATE), (CUDA, MONITOR), (EUD, TRIAGE), (INTERNAL, TRIAGE)],
)
def test_what_its_software_could_not_do_is_no_measurement(
    tmp_path: Path, category: int, severity: int
) -> None:
    with pytest.raises(NotMeasured, match="could not test: GPU 1: memory: words"):
        extracted(tmp_path, diagnostic(memory=failing(category, severity), pcie="Pass"))


def test_a_subtest_that_broke_while_every_gpu_passed_is_no_measurement(tmp_path: Path) -> None:
    text = diagnostic(memory="Pass", pcie="Pass")
    document = json.loads(text)
    pcie = document["DCGM Diagnostic"]["test_categories"][0]["tests"][1]
    pcie["test_summary"] = {"status": "Fail", "warnings": ["output of child process"]}

    with pytest.raises(NotMeasured, match="all GPUs: pcie: output of child process"):
        extracted(tmp_path, json.dumps(document), level=2)


@pytest.mark.parametrize("said", ["Skip", {"status": "Skip"}])
def test_a_skipped_subtest_is_never_a_pass(tmp_path: Path, said: Any) -> None:
    text = diagnostic(memory="Pass", pcie="Pass", eud=said)

    with pytest.raises(NotMeasured, match="left out eud: that was not tested"):
        extracted(tmp_path, text, level=2)


def test_a_run_that_skipped_everything_is_no_measurement(tmp_path: Path) -> None:
    with pytest.raises(NotMeasured, match="skipped every subtest"):
        extracted(tmp_path, diagnostic(memory="Skip", pcie="Skip"))


def test_a_fault_counts_though_what_follows_was_skipped(tmp_path: Path) -> None:
    text = diagnostic(memory=failing(MEMORY, ISOLATE), pcie="Skip")

    assert judged(Dcgmi.slug, extracted(tmp_path, text)).status is EvaluationStatus.FAILED


def test_a_lower_level_than_asked_for_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotMeasured, match="left out diagnostic, memory_bandwidth, targeted_stress"):
        extracted(tmp_path, diagnostic(memory="Pass", pcie="Pass"), level=3)


def test_fewer_gpus_than_slurm_gave_are_refused(tmp_path: Path) -> None:
    with pytest.raises(NotMeasured, match="worked on 2 GPUs, the job was given 8"):
        extracted(tmp_path, PASSED, gpus=8)


def test_level_1_of_dcgm_3_says_not_which_gpus(tmp_path: Path) -> None:
    tests = [{"name": "NVML Library", "results": [{"status": "Pass"}]}]
    text = {
        "DCGM GPU Diagnostic": {"test_categories": [{"category": "Deployment", "tests": tests}]}
    }

    with pytest.raises(NotMeasured, match="does not say which GPUs it tested"):
        extracted(tmp_path, json.dumps(text), level=1)


@pytest.mark.parametrize(("name", "is_fault"), [("Persistence Mode", False), ("Inforom", True)])
def test_dcgm_3_blames_the_installation_or_a_gpu(
    tmp_path: Path, name: str, *, is_fault: bool
) -> None:
    tests = [{"name": name, "results": [{"status": "Fail", "warnings": ["words"]}]}]
    text = {
        "DCGM GPU Diagnostic": {"test_categories": [{"category": "Deployment", "tests": tests}]}
    }

    if is_fault:
        assert extracted(tmp_path, json.dumps(text), level=1).failed_tests == 1
    else:
        with pytest.raises(NotMeasured, match="could not test"):
            extracted(tmp_path, json.dumps(text), level=1)


@pytest.mark.parametrize("share", [0.1, 0.6, 0.99])
def test_a_cut_report_is_refused(tmp_path: Path, share: float) -> None:
    with pytest.raises(ParseError):
        extracted(tmp_path, PASSED[: int(len(PASSED) * share)])
