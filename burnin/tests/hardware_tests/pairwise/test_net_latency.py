"""What the latencies of a pair are taken for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from burnin.hardware_tests.evaluation import EvaluationStatus, NotMeasured
from burnin.hardware_tests.pairwise.net_latency import (
    PairLatencyMetrics,
    PairNetLatency,
    PairNetLatencyGpu,
)
from burnin.hardware_tests.parsers.refusal import ParseError
from burnin.tests.hardware_tests.pairwise.reports import (
    LINE,
    NODES,
    bandwidth,
    latency,
    links,
    name_of,
    over_links,
    ping_pong,
)
from burnin.tests.hardware_tests.single_node.attempts import judged, made_up_attempt
from runner.contract.slugs import Slugs

RAILS = tuple(f"mlx5_{number}:1" for number in range(8))
WHOLE = {rail[:6]: latency(2.1, 2.9, rail[:6]) for rail in RAILS}


def measured(directory: Path, changed: Mapping[str, str]) -> PairLatencyMetrics:
    files = {"links.json": links(*RAILS), **over_links(RAILS, WHOLE), **changed}
    attempt = made_up_attempt(directory, files, params={"devices": []}, node_names=NODES)
    metrics = PairNetLatency().measure(attempt)
    assert isinstance(metrics, PairLatencyMetrics)
    return metrics


def over_mpi(directory: Path, times_s: Mapping[str, list[float]]) -> PairLatencyMetrics:
    files = {
        "links.json": links(transport="mpi"),
        "mpi-ping-pong.json": ping_pong("latency", 8, times_s),
    }
    return measured(directory, files)


def test_the_slowest_link_decides_by_its_mean_and_by_its_percentile(tmp_path: Path) -> None:
    slow = {
        name_of("n1", "n2", "mlx5_4:1"): latency(5.4, 5.9, "mlx5_4"),
        name_of("n2", "n1", "mlx5_1:1"): latency(2.2, 8.4, "mlx5_1"),
    }

    metrics = measured(tmp_path, slow)

    result = judged(Slugs.PAIR_NET_LATENCY, metrics, "h100-sxm5-8x")
    assert (metrics.latency, metrics.p99_latency) == pytest.approx((5.4, 8.4))
    assert result.status is EvaluationStatus.FAILED
    assert result.reason.startswith(
        "Slowest link, mean 5.4 µs, allows at most 5 (n1→n2 mlx5_4:1 5.4, "
    )
    assert "Slowest link, p99 8.4 µs, allows at most 4.2 (n2→n1 mlx5_1:1 8.4, " in result.reason
    rows = {(each.source, each.link, each.metric): each.value for each in metrics.pairs}
    assert rows["n1", "mlx5_4:1", "latency"] == pytest.approx(5.4)
    assert rows["n2", "mlx5_1:1", "latency"] == pytest.approx(2.2)


@pytest.mark.parametrize("on", ["a100-sxm4-80g-8x", "h100-sxm5-8x", "b200-8x", "mi300x-8x"])
def test_whole_links_pass(tmp_path: Path, on: str) -> None:
    assert judged(Slugs.PAIR_NET_LATENCY, measured(tmp_path, {}), on).passed


def test_the_latency_of_gpu_memory_waits_for_a_limit(tmp_path: Path) -> None:
    result = judged(PairNetLatencyGpu.slug, measured(tmp_path, {}), "h100-sxm5-8x")

    assert result.status is EvaluationStatus.ERRORED
    assert result.reason.startswith("no calibrated threshold for latency: no public figure")


def test_over_mpi_half_a_round_trip_counts(tmp_path: Path) -> None:
    metrics = over_mpi(tmp_path, {"n1": [4e-6] * 99 + [40e-6], "n2": [8e-6] * 100})

    assert metrics.latency == pytest.approx(4.0)
    assert metrics.details["latency"] == "n2→n1 4, n1→n2 2.18"
    assert metrics.p99_latency == pytest.approx(19.8, abs=0.3)
    assert judged(Slugs.PAIR_NET_LATENCY, metrics, "cpu-generic").passed


def test_too_few_round_trips_have_no_percentile(tmp_path: Path) -> None:
    with pytest.raises(NotMeasured, match="3 round trips are too few"):
        over_mpi(tmp_path, {"n1": [4e-6] * 3, "n2": [4e-6] * 3})


def test_a_report_of_bandwidth_is_no_latency(tmp_path: Path) -> None:
    with pytest.raises(ParseError, match="reports no latency at 8 bytes"):
        measured(tmp_path, {name_of("n1", "n2", "mlx5_0:1"): bandwidth(392)})


def test_a_run_by_duration_has_no_percentile(tmp_path: Path) -> None:
    whole = latency(2.1, 2.9)
    head = whole[: whole.index(" #bytes")]
    table = " #bytes #iterations    t_avg[usec]    tps average\n 8 10000 2.10 238095\n"
    by_duration = f"{head}{table}{LINE}\n"

    with pytest.raises(NotMeasured, match="has no 99 % percentile"):
        measured(tmp_path, {name_of("n1", "n2", "mlx5_0:1"): by_duration})
