"""Which messages of NVIDIA's driver accuse the hardware."""

from __future__ import annotations

from pathlib import Path

import pytest

from burnin.hardware_tests.evaluation import EvaluationStatus, NotMeasured
from burnin.hardware_tests.single_node.node_health import NodeHealthCheckTest
from burnin.tests.hardware_tests.single_node.attempts import judged
from burnin.tests.hardware_tests.single_node.health.reading import read
from burnin.tests.hardware_tests.single_node.test_node_health import extracted


def xid(number: int, rest: str = "pid=4711, name=python, something", priority: int = 4) -> str:
    return f"{priority},7,7,-;NVRM: Xid (PCI:0000:3b:00): {number}, {rest}"


def counted(check: str, directory: Path, *lines: str, count: int = 0) -> tuple[float, str]:
    return read(check, {"lines": list(lines), "count": count or len(lines)}, directory)


@pytest.mark.parametrize("number", [46, 48, 54, 62, 64, 74, 79, 81, 94, 95, 119, 140, 144, 151, 165,
                                    168, 171, 999])  # fmt: skip
def test_faults_of_the_hardware_and_unknown_numbers_accuse_it(tmp_path: Path, number: int) -> None:
    assert counted("fault_xids", tmp_path, xid(number))[0] == 1
    assert counted("kernel_errors", tmp_path, xid(number))[0] == 1
    assert counted("application_xids", tmp_path, xid(number))[0] == 0


@pytest.mark.parametrize("number", [8, 11, 13, 31, 43, 44, 63, 78, 92, 105, 126, 139, 162])
def test_errors_of_applications_are_shown_and_accuse_nothing(tmp_path: Path, number: int) -> None:
    assert counted("fault_xids", tmp_path, xid(number, priority=3))[0] == 0
    assert counted("kernel_errors", tmp_path, xid(number, priority=3)) == (0, "")
    assert counted("application_xids", tmp_path, xid(number))[0] == 1


@pytest.mark.parametrize(("number", "faults"), [(13, 2), (31, 2), (11, 0), (43, 0)])
def test_a_suspicious_error_that_repeats_under_our_own_programs_is_a_fault(
    tmp_path: Path, number: int, faults: int
) -> None:
    twice = (xid(number, "pid=1, first"), xid(number, "pid=2, second"))

    assert counted("fault_xids", tmp_path, *twice)[0] == faults


@pytest.mark.parametrize(
    ("rest", "faults"),
    [
        ("GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)", 1),
        ("GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)", 1),
        ("GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)", 0),
        ("GPU recovery action changed", 1),
    ],
)
def test_a_recovery_action_counts_when_one_is_due(tmp_path: Path, rest: str, faults: int) -> None:
    assert counted("fault_xids", tmp_path, xid(154, rest))[0] == faults


def sxid(number: int, rest: str) -> str:
    return f"3,7,7,-;nvidia-nvswitch0: SXid (PCI:0000:05:00.0): {number}, {rest}"


def test_only_nvswitch_errors_that_are_called_fatal_accuse_it(tmp_path: Path) -> None:
    mild = (sxid(12023, "Non-fatal, Link 27 ingress"), sxid(12023, "Data {0x1, 0x2}"))
    fatal = (sxid(20034, "Fatal, Link 30 LTSSM Fault Up"), sxid(20034, "Severity 1 Engine"))

    assert counted("fatal_sxids", tmp_path, *mild) == (0, "")
    assert counted("kernel_errors", tmp_path, *mild) == (0, "")
    value, detail = counted("fatal_sxids", tmp_path, *mild, *fatal)
    assert value == 1 and detail.endswith("Fatal, Link 30 LTSSM Fault Up")
    assert counted("kernel_errors", tmp_path, *fatal)[0] == 1


def test_an_nvswitch_error_that_nobody_rates_counts_once(tmp_path: Path) -> None:
    unrated = (sxid(11001, "Data {0x1}"), sxid(11001, "Data {0x2}"))

    assert counted("fatal_sxids", tmp_path, *unrated)[0] == 1


def test_corrected_and_uncorrected_machine_checks_are_told_apart(tmp_path: Path) -> None:
    corrected = "6,7,7,-;EDAC MC0: 1 CE memory read error on CPU_SrcID#0_MC#0_Chan#1_DIMM#0"
    bad = (
        "0,7,7,-;mce: [Hardware Error]: CPU 4: Machine Check Exception: 5 Bank 7: be00000000800400"
    )

    assert counted("machine_checks", tmp_path, corrected)[0] == 0
    assert counted("machine_checks", tmp_path, corrected, bad)[0] == 1
    assert counted("io_errors", tmp_path, "3,1,1,-;blk_update_request: I/O error, dev nvme0n1")[0]


@pytest.mark.parametrize("check", ["fault_xids", "fatal_sxids", "machine_checks", "io_errors"])
def test_nothing_found_among_lines_of_which_some_are_lost_is_no_clean_log(
    tmp_path: Path, check: str
) -> None:
    with pytest.raises(NotMeasured, match="wrote 5000 complaints, of which 1 were kept"):
        counted(check, tmp_path, xid(43), count=5000)
    assert counted("kernel_errors", tmp_path, xid(43), count=5000)[0] == 4999


def test_a_fatal_xid_fails_the_node_in_the_kernels_words(tmp_path: Path) -> None:
    fallen = xid(79, "pid=1234, GPU has fallen off the bus.")

    metrics = extracted(tmp_path, ("fault_xids",), kernel_errors={"lines": [fallen], "count": 1})

    result = judged(NodeHealthCheckTest.slug, metrics, "h100-sxm5-8x")
    assert result.status is EvaluationStatus.FAILED
    assert result.reason == (
        "Xids that accuse a GPU 1, allows at most 0 "
        "(NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, GPU has fallen off the bus. "
        "[power-cycle the node; if it comes back, reseat or replace the GPU])"
    )
