from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from burnin.hardware_tests.artifacts import MissingArtifact
from burnin.hardware_tests.evaluation import EvaluationStatus, NotMeasured
from burnin.hardware_tests.params import BadParams, parse_params
from burnin.hardware_tests.run_context import RunContext
from burnin.hardware_tests.single_node.health.metrics import NodeHealthMetrics
from burnin.hardware_tests.single_node.health.params import NodeHealthParams
from burnin.hardware_tests.single_node.node_health import NodeHealthCheckTest
from burnin.tests.hardware_tests.single_node.attempts import judged, made_up_attempt
from runner.contract.health import SECTION_OF
from runner.contract.wire import AttemptToken

GIB = 1024**3
EVERY_CHECK = NodeHealthParams().checks
HEALTHY: dict[str, Any] = {
    "memory_size": {"bytes": 64 * GIB},
    "cpu_count": {"count": 16},
    "filesystems": [
        {"path": "/", "writable": True, "error": None, "free_bytes": 60, "size_bytes": 100},
        {"path": "/tmp", "writable": True, "error": None, "free_bytes": 25, "size_bytes": 100},
    ],
    "clock_offset": {"offset_s": -0.004},
    "kernel_errors": {"lines": [], "count": 0, "window_s": 3.0},
}


def extracted(
    directory: Path,
    checks: tuple[str, ...] = EVERY_CHECK,
    asked_for: tuple[str, ...] = (),
    **changes: Any,
) -> NodeHealthMetrics:
    """Extract from a healthy report with sections changed; None takes a section away.

    Filesystems were asked for as they are reported, if nothing else is said.
    """
    report = {name: found for name, found in {**HEALTHY, **changes}.items() if found is not None}
    reported = [each["path"] for each in report.get("filesystems", []) if "path" in each]
    params = {"checks": checks, "filesystems": list(asked_for) or reported or ["/tmp"]}
    attempt = made_up_attempt(directory, {"node-health.json": json.dumps(report)}, params=params)
    return NodeHealthCheckTest().extract_metrics(attempt)


def test_a_healthy_node_passes(tmp_path: Path) -> None:
    metrics = extracted(tmp_path)

    assert metrics.memory_size == 64 and metrics.cpu_count == 16
    assert metrics.disk_space == 25 and metrics.details["disk_space"] == "/tmp"
    assert metrics.clock_offset == pytest.approx(4)
    assert judged(NodeHealthCheckTest.slug, metrics).passed


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (
            {"kernel_errors": {"lines": ["3,9,99,-;nvme0: I/O error"], "count": 1}},
            "Kernel errors since start 1, allows at most 0 (nvme0: I/O error)",
        ),
        (
            {
                "filesystems": [
                    HEALTHY["filesystems"][0],
                    {**HEALTHY["filesystems"][1], "writable": False, "error": "Read-only"},
                ]
            },
            "Filesystems that cannot be written 1, allows at most 0 (/tmp: Read-only)",
        ),
        (
            {"filesystems": [{**HEALTHY["filesystems"][1], "free_bytes": 4}]},
            "Fullest filesystem, free space 4 %, needs at least 5 (/tmp)",
        ),
        (
            {"clock_offset": {"offset_s": -1.5}},
            "Clock offset against the login host 1500 ms, allows at most 100 (the node is behind)",
        ),
    ],
    ids=["kernel", "filesystem", "space", "clock"],
)
def test_an_unhealthy_node_fails_and_says_where(
    tmp_path: Path, changes: dict[str, Any], reason: str
) -> None:
    result = judged(NodeHealthCheckTest.slug, extracted(tmp_path, **changes))

    assert result.status is EvaluationStatus.FAILED
    assert result.reason == reason


def test_sizes_are_shown_but_decide_nothing_on_a_class_that_expects_none(tmp_path: Path) -> None:
    metrics = extracted(tmp_path, checks=("memory_size", "cpu_count"))

    assert judged(NodeHealthCheckTest.slug, metrics).status is EvaluationStatus.ERRORED


def test_a_check_that_was_not_asked_for_is_none_whatever_the_node_sent(tmp_path: Path) -> None:
    metrics = extracted(tmp_path, checks=("filesystems",), kernel_errors={"error": "no access"})

    assert metrics.unwritable_filesystems == 0
    shown = {each["name"] for each in metrics.to_metrics_response()}
    assert shown == {"unwritable_filesystems"}


@pytest.mark.parametrize("check", EVERY_CHECK)
def test_a_check_that_was_asked_for_and_is_absent_is_refused_by_name(
    tmp_path: Path, check: str
) -> None:
    absent: dict[str, Any] = {NodeHealthCheckTest.checks[check].section: None}

    with pytest.raises(NotMeasured) as refused:
        extracted(tmp_path, checks=(check,), **absent)

    assert str(refused.value) == (f"the check {check} was asked for, but node-health.json lacks it")


@pytest.mark.parametrize("check", EVERY_CHECK)
def test_a_check_that_could_not_be_read_is_refused_by_name(tmp_path: Path, check: str) -> None:
    section = NodeHealthCheckTest.checks[check].section
    unread: dict[str, Any] = {section: {"error": "Operation not permitted"}}

    with pytest.raises(NotMeasured) as refused:
        extracted(tmp_path, checks=(check,), **unread)

    assert str(refused.value) == (f"the check {check} could not be read: Operation not permitted")


@pytest.mark.parametrize(
    ("check", "found"),
    [
        ("memory_size", {"bytes": 0}),
        ("memory_size", {"bytes": "64"}),
        ("memory_size", {}),
        ("cpu_count", {"count": -1}),
        ("cpu_count", {"count": True}),
        ("filesystems", []),
        ("filesystems", [{"path": "/tmp"}]),
        ("filesystems", [{"path": "/tmp", "writable": "yes"}]),
        ("clock_offset", {"offset_s": None}),
        ("kernel_errors", {"count": 0}),
        ("kernel_errors", {"lines": [], "count": -1}),
        ("kernel_errors", "none"),
    ],
)
def test_a_finding_of_the_wrong_shape_is_refused_by_name(
    tmp_path: Path, check: str, found: Any
) -> None:
    with pytest.raises(NotMeasured, match=f"the check {check} cannot be used"):
        extracted(tmp_path, checks=(check,), **{check: found})


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
def test_a_clock_offset_that_is_no_number_is_refused(tmp_path: Path, word: str) -> None:
    with pytest.raises(NotMeasured, match="clock_offset cannot be used"):
        extracted(tmp_path, checks=("clock_offset",), clock_offset={"offset_s": float(word)})


def test_kernel_errors_counted_but_not_listed_are_contradictory(tmp_path: Path) -> None:
    with pytest.raises(NotMeasured, match="3 kernel errors counted, 0 listed"):
        extracted(tmp_path, checks=("kernel_errors",), kernel_errors={"lines": [], "count": 3})


@pytest.mark.parametrize("sizes", [{}, {"free_bytes": 0, "size_bytes": 0}])
def test_a_filesystem_that_is_gone_has_no_free_space(tmp_path: Path, sizes: dict[str, int]) -> None:
    gone = {"path": "/scratch", "writable": False, "error": "Stale file handle", **sizes}

    metrics = extracted(tmp_path, filesystems=[gone, HEALTHY["filesystems"][0]])

    assert metrics.unwritable_filesystems == 1
    assert metrics.disk_space == 0 and metrics.details["disk_space"] == "/scratch"


@pytest.mark.parametrize(
    "sizes", [{}, {"free_bytes": 0, "size_bytes": 0}, {"free_bytes": 9, "size_bytes": 3}]
)
def test_free_space_that_could_not_be_read_is_refused(
    tmp_path: Path, sizes: dict[str, int]
) -> None:
    odd = {"path": "/scratch", "writable": True, **sizes}

    with pytest.raises(NotMeasured, match="the free space of /scratch could not be read"):
        extracted(tmp_path, checks=("disk_space",), filesystems=[odd])


@pytest.mark.parametrize("check", ["filesystems", "disk_space"])
@pytest.mark.parametrize(
    ("asked_for", "words"),
    [
        (("/", "/tmp", "/scratch"), "/scratch was asked for, but node-health.json lacks it"),
        (("/",), "/tmp was not asked for, but node-health.json has it"),
    ],
)
def test_other_filesystems_than_were_asked_for_are_refused(
    tmp_path: Path, check: str, asked_for: tuple[str, ...], words: str
) -> None:
    with pytest.raises(NotMeasured) as refused:
        extracted(tmp_path, checks=(check,), asked_for=asked_for)

    assert str(refused.value) == f"the check {check} cannot be used: {words}"


def test_a_filesystem_that_is_reported_twice_is_refused(tmp_path: Path) -> None:
    good = HEALTHY["filesystems"][0]

    with pytest.raises(NotMeasured, match=r"node-health\.json has / twice"):
        extracted(tmp_path, ("filesystems",), asked_for=("/",), filesystems=[good, good])


def test_a_missing_report_is_refused(tmp_path: Path) -> None:
    attempt = made_up_attempt(tmp_path, {}, params={"checks": ["cpu_count"]})

    with pytest.raises(MissingArtifact, match=r"node-health\.json"):
        NodeHealthCheckTest().extract_metrics(attempt)


def test_a_report_that_is_no_object_is_refused(tmp_path: Path) -> None:
    attempt = made_up_attempt(
        tmp_path, {"node-health.json": "[]"}, params={"checks": ["cpu_count"]}
    )

    with pytest.raises(NotMeasured, match="lacks it"):
        NodeHealthCheckTest().extract_metrics(attempt)


def test_the_job_gets_every_gpu_that_the_class_has() -> None:
    context = RunContext(
        token=AttemptToken("5b1f0c3e-6f0e-4c62-9d0f-3a6f1c0b7d21", 1),
        partition="main",
        timeout_minutes=5,
        gpus_per_node=8,
    )

    assert NodeHealthCheckTest().make_batch_config(context).gpus_per_node == 8


def test_every_check_of_the_contract_has_a_reader_and_a_metric_of_its_own() -> None:
    metrics = [check.metric for check in NodeHealthCheckTest.checks.values()]

    assert set(NodeHealthCheckTest.checks) == set(SECTION_OF)
    made_of_others = ["unread_checks", "unexpected_components"]
    assert sorted([*metrics, *made_of_others]) == sorted(NodeHealthMetrics.declarations())


def test_nothing_passes_beside_a_check_that_could_not_be_read(tmp_path: Path) -> None:
    metrics = extracted(tmp_path, kernel_errors={"error": "/dev/kmsg cannot be read"})

    result = judged(NodeHealthCheckTest.slug, metrics)

    assert metrics.unread_checks == 1 and metrics.memory_size == 64
    assert result.status is EvaluationStatus.ERRORED
    assert result.reason == ("the check kernel_errors could not be read: /dev/kmsg cannot be read")


def test_a_fault_stands_beside_a_check_that_could_not_be_read(tmp_path: Path) -> None:
    broken = [{**HEALTHY["filesystems"][1], "writable": False, "error": "Read-only"}]

    metrics = extracted(tmp_path, filesystems=broken, kernel_errors={"error": "no access"})

    assert judged(NodeHealthCheckTest.slug, metrics).status is EvaluationStatus.FAILED


@pytest.mark.parametrize(
    "check", ["gpu_temperature", "active_nvlinks", "new_pcie_replays", "corrupt_inforoms"]
)
def test_an_nvidia_smi_that_hangs_is_a_fault_whatever_it_was_asked(
    tmp_path: Path, check: str
) -> None:
    hung: Any = {"exit_code": -15, "hung_s": 180.2, "words": ""}
    if check == "new_pcie_replays":
        hung = {"before": hung, "after": hung}

    metrics = extracted(tmp_path, (check,), **{SECTION_OF[check]: hung})

    result = judged(NodeHealthCheckTest.slug, metrics, "h100-sxm5-8x")
    assert result.status is EvaluationStatus.FAILED
    assert result.reason.startswith("nvidia-smi answers 0, must be exactly 1 (the check ")
    assert "no answer within 180 s" in result.reason


def test_another_tool_that_hangs_is_no_measurement(tmp_path: Path) -> None:
    hung = {"exit_code": -15, "hung_s": 180.2, "words": ""}

    with pytest.raises(NotMeasured, match="event_log_faults cannot be used: no answer within"):
        extracted(tmp_path, ("event_log_faults",), event_log=hung)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"checks": []}, "name at least one"),
        ({"checks": ["cpu_count", "cpu_count"]}, "each only once"),
        ({"checks": ["disk"]}, "'disk'"),
        ({"filesystems": ["tmp"]}, "starts with /"),
        ({"checkz": ["cpu_count"]}, "did you mean 'checks'"),
    ],
)
def test_bad_params_are_refused_in_a_sentence(params: dict[str, Any], words: str) -> None:
    with pytest.raises(BadParams) as refused:
        parse_params(NodeHealthCheckTest, params)

    assert words in str(refused.value)
