"""What an output of nccl-tests is taken for, by every test that runs it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from burnin.hardware_tests.artifacts import ArtifactCollector, MissingArtifact
from burnin.hardware_tests.evaluation import EvaluationResult, EvaluationStatus, NotMeasured
from burnin.hardware_tests.multi_node.nccl_collective import (
    NcclAllGather,
    NcclAllReduce,
    NcclAllToAll,
    NcclReduceScatter,
)
from burnin.hardware_tests.nccl import NcclMetrics, NcclTest
from burnin.hardware_tests.parsers.refusal import ParseError
from burnin.hardware_tests.resource_classes import hardware_of
from burnin.hardware_tests.single_node.nccl_loopback import NcclLoopback, NcclLoopbackNetwork
from burnin.tests.hardware_tests.parsers.shipped import shipped
from burnin.tests.hardware_tests.single_node.attempts import made_up_attempt

A100, H100, MI300X, L40S = "a100-sxm4-80g-8x", "h100-sxm5-8x", "mi300x-8x", "l40s-8x"
TWO = ("n1", "n2")
FASTEST = re.compile(r"(17179869184 .*? )0( +[\d.]+ +[\d.]+ +[\d.]+ +(?:0|N/A)\n)")


def printed(name: str) -> str:
    return shipped("nccl-tests", f"{name}.txt")


def with_wrong_values(text: str) -> str:
    """Make 4096 values of the largest size wrong, as the tool would say it."""
    wrong, count = FASTEST.subn(r"\g<1>4096\2", text)
    assert count == 1
    return wrong.replace("values : 0 OK", "values : 1 FAILED")


def over(network: str, text: str, *, nvls: int | None = None, mnnvl: int = 0) -> str:
    """Let the first rank say which network it took, as NCCL_DEBUG=INFO does."""
    said = [f"Using network {network}", f"comm 0x55 rank 0 nRanks 16 localRanks 8 MNNVL {mnnvl}"]
    if nvls is not None:
        said += [f"24 coll channels, 24 collnet channels, {nvls} nvls channels, 32 p2p channels"]
    return "".join(f"gpu001:70:90 [0] NCCL INFO {each}\n" for each in said) + text


def ports(*rates: float | None, nodes: tuple[str, ...] = TWO) -> dict[str, str]:
    """Return what each node said of its ports, of so many rates."""
    each = {f"mlx5_{n}:1": {"state": "ACTIVE", "rate": rate} for n, rate in enumerate(rates)}
    return {f"rdma/{node}.json": json.dumps(each) for node in nodes}


def attempt_with(
    directory: Path,
    text: str,
    *,
    more: dict[str, str] | None = None,
    on: str = A100,
    node_names: tuple[str, ...] = ("n1",),
    gpu_count: int = 8,
) -> ArtifactCollector:
    node = {"gpu_count": gpu_count, "resource_class": on, "container": ""}
    files = {"nccl-tests.txt": text, "gpu-node.json": json.dumps(node), **(more or {})}
    return made_up_attempt(directory, files, params={}, node_names=node_names)


def measured(test: type[NcclTest], attempt: ArtifactCollector) -> NcclMetrics:
    metrics = test().measure(attempt)
    assert isinstance(metrics, NcclMetrics)
    return metrics


def verdict(
    directory: Path,
    test: type[NcclTest],
    text: str,
    *,
    on: str = A100,
    node_names: tuple[str, ...] = ("n1",),
    more: dict[str, str] | None = None,
) -> EvaluationResult:
    attempt = attempt_with(directory, text, on=on, node_names=node_names, more=more)
    metrics = measured(test, attempt)
    return test.evaluate(metrics, test.load_thresholds(on))


def test_bandwidth_is_of_the_largest_size_and_latency_of_the_smallest(tmp_path: Path) -> None:
    attempt = attempt_with(tmp_path, printed("allreduce_2x8_sweep"), node_names=TWO)

    metrics = measured(NcclAllReduce, attempt)

    assert metrics.bus_bandwidth == 186.18
    assert metrics.latency == 24.01
    assert metrics.spread == pytest.approx(100 * (186.18 - 186.06) / 186.18)
    assert (metrics.buffer_size, metrics.rank_count, metrics.num_nodes) == (16, 16, 2)
    assert metrics.details == {
        "bus_bandwidth": "16 ranks on 2 nodes, library 2.25.1+cuda12.8",
        "latency": "8 bytes",
    }


def test_sizes_that_leave_nothing_for_a_rank_have_no_latency(tmp_path: Path) -> None:
    attempt = attempt_with(tmp_path, printed("allgather_2x8_sweep"), on=H100, node_names=TWO)

    assert measured(NcclAllGather, attempt).details["latency"] == "256 bytes"


def test_what_is_never_checked_in_place_has_no_spread(tmp_path: Path) -> None:
    attempt = attempt_with(tmp_path, printed("alltoall_2x8_sweep"), on=H100, node_names=TWO)

    assert measured(NcclAllToAll, attempt).spread is None


def test_good_nodes_pass(tmp_path: Path) -> None:
    assert verdict(tmp_path, NcclLoopback, printed("allreduce_1x8_sweep")).passed


def test_slow_nodes_fail_and_warnings_are_quoted(tmp_path: Path) -> None:
    text = over("IB", printed("allreduce_2x8_sweep_slow"))

    attempt = attempt_with(tmp_path, text, node_names=TWO, more=ports(*[200.0] * 8))
    metrics = measured(NcclAllReduce, attempt)
    result = NcclAllReduce.evaluate(metrics, NcclAllReduce.load_thresholds(A100))

    assert result.status is EvaluationStatus.FAILED
    assert result.reason == (
        "Bus bandwidth 93.4 GB/s, needs at least 176 "
        "(16 ranks on 2 nodes, library 2.25.1+cuda12.8 over IB)"
    )
    assert metrics.warning_count == 1
    assert metrics.details["warning_count"].endswith("Got async event : port error")


def test_wrong_values_fail_whatever_the_bandwidth_and_say_at_which_size(tmp_path: Path) -> None:
    result = verdict(tmp_path, NcclLoopback, printed("allreduce_1x8_sweep_wrong"))

    assert result.status is EvaluationStatus.FAILED
    assert result.reason == (
        "Wrong values 4146, allows at most 0 (50 at 67108864 bytes; 4096 at 17179869184 bytes)"
    )


@pytest.mark.parametrize("on", [MI300X, H100])
def test_wrong_values_fail_where_nobody_has_calibrated_the_bandwidth(
    tmp_path: Path, on: str
) -> None:
    text = with_wrong_values(printed("reducescatter_2x8_sweep"))

    result = verdict(tmp_path, NcclReduceScatter, text, on=on, node_names=TWO)

    assert result.status is EvaluationStatus.FAILED
    assert result.reason.startswith("Wrong values 4096, allows at most 0")


def test_a_bandwidth_that_nobody_has_calibrated_does_not_pass(tmp_path: Path) -> None:
    text = printed("reducescatter_2x8_sweep")

    result = verdict(tmp_path, NcclReduceScatter, text, on=H100, node_names=TWO)

    assert result.status is EvaluationStatus.ERRORED
    assert result.reason.startswith("no calibrated threshold for bus_bandwidth: nobody publishes")


def test_another_number_of_nodes_than_the_limit_is_of_is_uncalibrated(tmp_path: Path) -> None:
    one = printed("allreduce_2x8_sweep")
    half = re.compile(r"(#  Rank )( \d|1\d)(.* on +gpu00)(\d)(.*\n)")
    more = half.sub(lambda m: m[0] + f"{m[1]}{int(m[2]) + 16}{m[3]}{int(m[4]) + 2}{m[5]}", one)
    nodes = ("n1", "n2", "n3", "n4")

    result = verdict(tmp_path, NcclAllReduce, more, node_names=nodes)

    assert result.status is EvaluationStatus.ERRORED
    assert result.reason == (
        "the threshold of bus_bandwidth is that of 2 nodes, this result is of 4: uncalibrated"
    )


def test_the_fingerprint_knows_nodes_and_library(tmp_path: Path) -> None:
    text = printed("allreduce_2x8_sweep")
    newer = text.replace("NCCL version 2.25.1", "NCCL version 2.26.2")
    silent = newer.replace("NCCL version", "version of").replace("nccl-library", "library")

    stamps = {
        name: measured(NcclAllReduce, attempt_with(tmp_path, said, node_names=TWO)).fingerprint
        for name, said in {"old": text, "new": newer, "silent": silent}.items()
    }

    assert stamps["old"] and stamps["new"] and stamps["old"] != stamps["new"]
    assert stamps["silent"] is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("#  Rank 15", "#  Bank 15"), "the ranks were 8 on gpu001, 7 on gpu002, not 8 on each"),
        (("on     gpu002", "on     gpu001"), "the ranks were 16 on gpu001, not 8 on each of 2"),
        (("#  Rank ", "#  Bank "), "the ranks were not named, not 8 on each of 2 nodes"),
        (
            ("# Using devices", "# Reducing maxBytes to 9663676416 due to memory limitation"),
            "something else may hold memory of a GPU",
        ),
        (("       0 ", "     N/A "), "the values were not checked at 8, 16, 32, 64, 128 bytes"),
    ],
)
def test_a_report_of_other_work_is_no_measurement(
    tmp_path: Path, change: tuple[str, str], words: str
) -> None:
    text = printed("allreduce_2x8_sweep")
    assert change[0] in text

    attempt = attempt_with(tmp_path, text.replace(*change), node_names=TWO)

    with pytest.raises(NotMeasured, match=re.escape(words)):
        NcclAllReduce().extract_metrics(attempt)


def test_a_size_may_end_at_the_ranks_own_shares(tmp_path: Path) -> None:
    text = printed("allreduce_2x8_sweep")
    rounded, smaller = (text.replace("17179869184 ", f"{(16 << 30) - n} ") for n in (384, 512))

    attempt = attempt_with(tmp_path, rounded, node_names=TWO)

    assert NcclAllReduce().extract_metrics(attempt).buffer_size == pytest.approx(16)
    with pytest.raises(NotMeasured, match="the largest size was 17179868672 bytes"):
        NcclAllReduce().extract_metrics(attempt_with(tmp_path, smaller, node_names=TWO))


def test_a_class_with_less_memory_moves_less(tmp_path: Path) -> None:
    text = re.sub(r" +17179869184 .*\n", "", printed("allreduce_1x8_sweep"))

    metrics = measured(NcclLoopback, attempt_with(tmp_path, text, on=L40S))

    assert metrics.buffer_size == 8
    with pytest.raises(NotMeasured, match="was 8589934592 bytes, the recipe's is 17179869184"):
        measured(NcclLoopback, attempt_with(tmp_path, text, on=A100))


@pytest.mark.parametrize("share", [0.5, 0.98])
def test_a_cut_output_is_no_measurement(tmp_path: Path, share: float) -> None:
    text = printed("allreduce_1x8_sweep")

    with pytest.raises(ParseError):
        NcclLoopback().extract_metrics(attempt_with(tmp_path, text[: int(len(text) * share)]))


def test_processes_that_ran_alone_are_no_measurement(tmp_path: Path) -> None:
    alone = re.sub(r"#  Rank +\d+", "#  Rank  0", printed("allreduce_1x8_sweep"))

    with pytest.raises(ParseError, match="the test was built without MPI"):
        NcclLoopback().extract_metrics(attempt_with(tmp_path, alone))


def test_a_missing_output_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MissingArtifact, match=r"left no nccl-tests\.txt"):
        NcclLoopback().extract_metrics(made_up_attempt(tmp_path, {}, params={}))


def test_the_network_that_was_taken_is_named(tmp_path: Path) -> None:
    text = printed("allreduce_1x8_network")

    metrics = measured(NcclLoopbackNetwork, attempt_with(tmp_path, text))

    assert metrics.details["bus_bandwidth"].endswith("library 2.25.1+cuda12.8 over IB")
    assert NcclLoopbackNetwork.evaluate(metrics, NcclLoopbackNetwork.load_thresholds(A100)).passed


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("network IB", "network Socket"), "NCCL took Socket, no NIC that its GPUs reach"),
        (("Using network IB", ""), "NCCL took no network that it names"),
    ],
)
def test_sockets_say_nothing_of_the_nics(
    tmp_path: Path, change: tuple[str, str], words: str
) -> None:
    text = printed("allreduce_1x8_network").replace(*change)

    with pytest.raises(NotMeasured, match=words):
        NcclLoopbackNetwork().extract_metrics(attempt_with(tmp_path, text))


def test_amd_nodes_take_another_image() -> None:
    images = {
        each: NcclAllReduce.container_on(hardware_of(each))
        for each in NcclAllReduce.resource_classes()
    }

    assert images.pop(MI300X) == "rccl-tests"
    assert set(images.values()) == {"nccl-tests"}
    assert all(hardware_of(each).gpu_maker for each in images)


@pytest.mark.parametrize(
    ("network", "rates", "says"),
    [
        ("Socket", [200.0] * 8, "network Socket, rate 1600"),
        ("IB", [100.0] * 8, "network IB, rate 800"),
        ("IB", [200.0] * 7 + [None], "network IB, without mnnvl"),
    ],
)
def test_on_another_network_than_the_limit_is_of_a_slow_result_is_uncalibrated(
    tmp_path: Path, network: str, rates: list[float | None], says: str
) -> None:
    text = over(network, printed("allreduce_2x8_sweep_slow"))

    result = verdict(tmp_path, NcclAllReduce, text, node_names=TWO, more=ports(*rates))

    assert result.status is EvaluationStatus.ERRORED
    assert result.reason.startswith(
        "the threshold of bus_bandwidth is of network IB, rate 1600, this result is of 2 nodes, "
    )
    assert says in result.reason


@pytest.mark.parametrize(
    ("network", "limit"),
    [("AWS Libfabric", "321"), ("FasTrak", "150"), ("GPUDirectTCPX_v7", "60"), ("IB", None)],
)
def test_of_the_limits_of_several_networks_that_of_the_result_decides(
    tmp_path: Path, network: str, limit: str | None
) -> None:
    text = over(network, printed("allgather_2x8_sweep"))

    result = verdict(
        tmp_path, NcclAllGather, text, on=H100, node_names=TWO, more=ports(*[400.0] * 8)
    )

    if limit is None:
        assert result.status is EvaluationStatus.ERRORED
        assert "there are limits for 2 nodes, network Libfabric; " in result.reason
        assert result.reason.endswith(
            "this result is of 2 nodes, network IB, rate 3200, without mnnvl"
        )
    else:
        assert result.status is not EvaluationStatus.ERRORED
        assert f"needs at least {limit} (" in result.reason


@pytest.mark.parametrize(
    ("nvls", "status"),
    [
        (16, EvaluationStatus.FAILED),
        (0, EvaluationStatus.ERRORED),
        (None, EvaluationStatus.ERRORED),
    ],
)
def test_without_nvlink_sharp_the_limit_with_it_decides_nothing(
    tmp_path: Path, nvls: int | None, status: EvaluationStatus
) -> None:
    text = over("IB", printed("allreduce_1x8_sweep"), nvls=nvls)

    assert verdict(tmp_path, NcclLoopback, text, on=H100).status is status


def test_the_fingerprint_knows_the_network(tmp_path: Path) -> None:
    text = printed("allreduce_2x8_sweep")

    stamps = {
        measured(
            NcclAllReduce, attempt_with(tmp_path / str(n), said, node_names=TWO, more=more)
        ).fingerprint
        for n, (said, more) in enumerate(
            [
                (over("IB", text), ports(*[200.0] * 8)),
                (over("IB", text), ports(*[100.0] * 8)),
                (over("Socket", text), ports(*[200.0] * 8)),
                (over("IB", text, nvls=16), ports(*[200.0] * 8)),
                (text, {}),
            ]
        )
    }

    assert len(stamps) == 5 and None not in stamps
