"""What the reports of a pair are taken for: the slowest direction decides, a dead link fails."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from burnin.hardware_tests.artifacts import MissingArtifact
from burnin.hardware_tests.batch import BadBatchConfig
from burnin.hardware_tests.evaluation import EvaluationStatus, NotMeasured
from burnin.hardware_tests.metrics import PairMetric
from burnin.hardware_tests.pairwise.net_bandwidth import PairBandwidthMetrics, PairNetBandwidth
from burnin.hardware_tests.params import BadParams, parse_params
from burnin.hardware_tests.parsers.refusal import ParseError
from burnin.tests.hardware_tests.pairwise.reports import (
    NODES,
    bandwidth,
    links,
    name_of,
    over_links,
    ping_pong,
    ports,
)
from burnin.tests.hardware_tests.parsers.corpus.recordings import SHIPPED
from burnin.tests.hardware_tests.single_node.attempts import judged, made_up_attempt
from burnin.tests.hardware_tests.toy import context
from runner.contract.slugs import Slugs

RAILS = tuple(f"mlx5_{number}:1" for number in range(8))
WHOLE = {rail[:6]: bandwidth(392.0, rail[:6]) for rail in RAILS}
DEAD = (SHIPPED / "perftest/write_bw_failed_status_12.txt").read_text()
MPI_TIMES = {"n1": [0.01] * 20, "n2": [0.02] * 20}
SIZE = 8 << 20


def measured(
    directory: Path, files: Mapping[str, str], node_names: tuple[str, ...] = NODES
) -> PairBandwidthMetrics:
    attempt = made_up_attempt(directory, files, params={"devices": []}, node_names=node_names)
    metrics = PairNetBandwidth().measure(attempt)
    assert isinstance(metrics, PairBandwidthMetrics)
    return metrics


def over_rdma(
    directory: Path, changed: Mapping[str, str], *, lost: Mapping[str, str] | None = None
) -> PairBandwidthMetrics:
    names = [rail for rail in RAILS if rail not in (lost or {})]
    told = {"links.json": links(*names, lost=lost), **ports(*names), **over_links(names, WHOLE)}
    return measured(directory, {**told, **changed})


def over_ports(directory: Path, count: int, *, rate: float, gbps: float) -> PairBandwidthMetrics:
    """Measure so many links of this rate, each of which carries so much."""
    names = [f"mlx5_{number}:1" for number in range(count)]
    reports = {name.partition(":")[0]: bandwidth(gbps, name.partition(":")[0]) for name in names}
    files = {"links.json": links(*names), **ports(*names, rate=rate), **over_links(names, reports)}
    return measured(directory, files)


def over_mpi(directory: Path, **changes: object) -> PairBandwidthMetrics:
    report = ping_pong("bandwidth", SIZE, MPI_TIMES, **changes)
    files = {"links.json": links(transport="mpi"), "mpi-ping-pong.json": report}
    return measured(directory, files)


def test_the_slowest_link_decides_and_is_named_with_its_direction(tmp_path: Path) -> None:
    slow = {name_of("n2", "n1", "mlx5_3:1"): bandwidth(196.4, "mlx5_3")}

    metrics = over_rdma(tmp_path, slow)

    result = judged(Slugs.PAIR_NET_BANDWIDTH, metrics, "h100-sxm5-8x")
    assert metrics.bandwidth == pytest.approx(196.4, rel=1e-3)
    assert result.status is EvaluationStatus.FAILED
    assert result.reason.startswith(
        "Slowest link, share of its port's rate 49.1 %, needs at least 95 "
        "(n2→n1 mlx5_3:1 49.1, n1→n2 mlx5_0:1 98"
    )
    rows = [each for each in metrics.pairs if each.metric == "bandwidth"]
    assert len(rows) == 2 * len(RAILS)
    assert [each for each in rows if each.link == "mlx5_3:1"] == [
        PairMetric(source="n1", target="n2", metric="bandwidth", value=392.0, link="mlx5_3:1"),
        PairMetric(source="n2", target="n1", metric="bandwidth", value=196.4, link="mlx5_3:1"),
    ]


@pytest.mark.parametrize(
    ("on", "count", "rate", "gbps", "status"),
    [
        ("h100-sxm5-8x", 16, 200.0, 192.0, EvaluationStatus.PASSED),
        ("a100-sxm4-80g-8x", 16, 100.0, 96.0, EvaluationStatus.PASSED),
        ("a100-sxm4-80g-8x", 8, 200.0, 181.0, EvaluationStatus.PASSED),
        ("h100-sxm5-8x", 16, 200.0, 180.0, EvaluationStatus.FAILED),
        ("h100-sxm5-8x", 8, 200.0, 198.0, EvaluationStatus.FAILED),
        ("a100-sxm4-80g-8x", 8, 100.0, 98.0, EvaluationStatus.FAILED),
    ],
)
def test_a_link_is_held_to_its_own_port_and_the_ports_to_their_class(
    tmp_path: Path, on: str, count: int, rate: float, gbps: float, status: EvaluationStatus
) -> None:
    metrics = over_ports(tmp_path, count, rate=rate, gbps=gbps)

    assert (metrics.bandwidth, metrics.port_rate) == pytest.approx((gbps, rate))
    assert judged(Slugs.PAIR_NET_BANDWIDTH, metrics, on).status is status


def test_ports_that_came_up_slower_than_the_class_has_them_fail_and_are_counted(
    tmp_path: Path,
) -> None:
    result = judged(
        Slugs.PAIR_NET_BANDWIDTH, over_ports(tmp_path, 8, rate=200, gbps=198), "h100-sxm5-8x"
    )

    assert result.reason == ("Rate of all ports 1600 Gb/s, needs at least 3200 (8 of 200 Gb/s)")


def test_a_link_is_as_fast_as_its_slower_port(tmp_path: Path) -> None:
    halved = {"mlx5_6:1": 200.0}
    slow = {
        name: bandwidth(196.0, "mlx5_6")
        for name in (name_of("n1", "n2", "mlx5_6:1"), name_of("n2", "n1", "mlx5_6:1"))
    }

    metrics = over_rdma(tmp_path, {**ports(*RAILS, slower=halved), **slow})

    assert metrics.port_share == pytest.approx(98)
    assert metrics.details["port_rate"] == "mlx5_6:1"
    assert metrics.details["fabric_rate"] == "1 of 200 Gb/s, 7 of 400 Gb/s"
    result = judged(Slugs.PAIR_NET_BANDWIDTH, metrics, "h100-sxm5-8x")
    assert "Rate of all ports 3000 Gb/s, needs at least 3200" in result.reason


@pytest.mark.parametrize("rate", [None, 0, -400.0])
def test_a_rate_that_nobody_knows_is_no_measurement(tmp_path: Path, rate: object) -> None:
    with pytest.raises(NotMeasured, match="n1 does not say the rate of its port mlx5_0:1"):
        over_rdma(tmp_path, ports(*RAILS, rate=rate))


def test_a_port_that_carries_more_than_its_rate_has_another_one(tmp_path: Path) -> None:
    with pytest.raises(NotMeasured, match="carried 196 % of what its port says"):
        over_rdma(tmp_path, ports(*RAILS, rate=200))


def test_links_that_were_left_out_are_no_fault_and_no_pass(tmp_path: Path) -> None:
    metrics = over_ports(tmp_path, 1, rate=400, gbps=392)
    thresholds = PairNetBandwidth.load_thresholds("h100-sxm5-8x")

    result = PairNetBandwidth.evaluate(metrics, thresholds, resolved_params={"devices": ["mlx5_0"]})

    assert result.status is EvaluationStatus.ERRORED
    assert "only mlx5_0 of 8 links were asked for" in result.reason


def test_a_slow_link_fails_though_others_were_left_out(tmp_path: Path) -> None:
    metrics = over_ports(tmp_path, 1, rate=400, gbps=200)
    thresholds = PairNetBandwidth.load_thresholds("h100-sxm5-8x")

    result = PairNetBandwidth.evaluate(metrics, thresholds, resolved_params={"devices": ["mlx5_0"]})

    assert result.status is EvaluationStatus.FAILED


@pytest.mark.parametrize("on", ["h100-sxm5-8x", "h200-8x", "b200-8x", "mi300x-8x"])
def test_eight_whole_links_pass(tmp_path: Path, on: str) -> None:
    assert judged(Slugs.PAIR_NET_BANDWIDTH, over_rdma(tmp_path, {}), on).passed


def test_links_of_a_class_that_nobody_has_calibrated_do_not_pass(tmp_path: Path) -> None:
    result = judged(Slugs.PAIR_NET_BANDWIDTH, over_rdma(tmp_path, {}), "l40s-8x")

    assert result.status is EvaluationStatus.ERRORED


def test_a_link_whose_other_end_does_not_answer_fails_and_is_named(tmp_path: Path) -> None:
    metrics = over_rdma(tmp_path, {name_of("n1", "n2", "mlx5_5:1"): DEAD.replace("5_0", "5_5")})

    result = judged(Slugs.PAIR_NET_BANDWIDTH, metrics, "h100-sxm5-8x")
    assert result.status is EvaluationStatus.FAILED
    assert result.reason == (
        "Links that carried no data 1, allows at most 0 "
        "(n1→n2 mlx5_5:1: Failed status 12 (retry exceeded) syndrom 0x81)"
    )


def test_a_link_that_one_end_lacks_fails_by_itself_and_by_the_number_of_links(
    tmp_path: Path,
) -> None:
    lost = {"mlx5_2:1": "mlx5_2:1 at n2 is DOWN, 400 Gb/s"}

    result = judged(Slugs.PAIR_NET_BANDWIDTH, over_rdma(tmp_path, {}, lost=lost), "h100-sxm5-8x")

    assert result.status is EvaluationStatus.FAILED
    assert "no data 1, allows at most 0 (mlx5_2:1 at n2 is DOWN, 400 Gb/s)" in result.reason
    assert "RDMA links 7, needs at least 8 (mlx5_0:1, mlx5_1:1, mlx5_3:1" in result.reason


def test_where_every_link_is_dead_the_run_fails_all_the_same(tmp_path: Path) -> None:
    lost = {rail: f"{rail} at n2 is not there" for rail in RAILS}

    metrics = over_rdma(tmp_path, {}, lost=lost)

    assert metrics.bandwidth is None
    for on in ("cpu-generic", "h100-sxm5-8x"):
        result = judged(Slugs.PAIR_NET_BANDWIDTH, metrics, on)
        assert result.status is EvaluationStatus.FAILED


@pytest.mark.parametrize(
    ("slug", "on", "status"),
    [
        (Slugs.PAIR_NET_BANDWIDTH, "cpu-generic", EvaluationStatus.ERRORED),
        (Slugs.PAIR_NET_BANDWIDTH_GPU, "l40s-8x", EvaluationStatus.ERRORED),
        (Slugs.PAIR_NET_BANDWIDTH_GPU, "h100-sxm5-8x", EvaluationStatus.FAILED),
    ],
)
def test_nodes_without_any_link_never_pass(
    tmp_path: Path, slug: str, on: str, status: EvaluationStatus
) -> None:
    """Cards that a class must have are a fault where they are not; elsewhere nothing was done."""
    assert judged(slug, measured(tmp_path, {"links.json": links()}), on).status is status


def test_over_mpi_the_slower_direction_decides_and_the_library_is_named(tmp_path: Path) -> None:
    metrics = over_mpi(tmp_path)

    assert metrics.bandwidth == pytest.approx(SIZE * 8 / 0.02 / 1e9)
    assert metrics.details["bandwidth"] == "n2→n1 3.355, n1→n2 6.711"
    assert metrics.details["rdma_links"] == "no active RDMA port; MPICH Version: 4.0.2"
    assert judged(Slugs.PAIR_NET_BANDWIDTH, metrics, "cpu-generic").passed


def test_mpi_on_a_class_with_cards_is_the_fault_that_they_are_gone(tmp_path: Path) -> None:
    result = judged(Slugs.PAIR_NET_BANDWIDTH, over_mpi(tmp_path), "h100-sxm5-8x")

    assert result.status is EvaluationStatus.FAILED
    assert "RDMA links 0, needs at least 8 (no active RDMA port; MPICH" in result.reason


def test_values_that_change_on_the_way_fail_and_name_where_they_came_in(tmp_path: Path) -> None:
    ways = [
        {"source": "n1", "target": "n2", "times_s": [0.01], "wrong": [0, 23]},
        {"source": "n2", "target": "n1", "times_s": [0.01], "wrong": [0, 0]},
    ]

    result = judged(Slugs.PAIR_NET_BANDWIDTH, over_mpi(tmp_path, directions=ways), "cpu-generic")

    assert result.status is EvaluationStatus.FAILED
    assert result.reason == "Wrong values 23, allows at most 0 (n2: 23 values of n1→n2)"


def test_wrong_values_cannot_be_made_up_for_by_fewer_than_none(tmp_path: Path) -> None:
    ways = [
        {"source": "n1", "target": "n2", "times_s": [0.01], "wrong": [5, -5]},
        {"source": "n2", "target": "n1", "times_s": [0.01], "wrong": [0, 0]},
    ]

    with pytest.raises(ValueError, match="greater than or equal to 0"):
        over_mpi(tmp_path, directions=ways)


def test_bounds_for_rdma_do_not_hold_for_mpi(tmp_path: Path) -> None:
    (tmp_path / "rdma").mkdir()
    (tmp_path / "mpi").mkdir()

    assert over_rdma(tmp_path / "rdma", {}).fingerprint is None  # no version of perftest is known
    assert over_mpi(tmp_path / "mpi").fingerprint


@pytest.mark.parametrize(
    "changes",
    [
        {"operation": "latency"},
        {"nodes": ["n1", "n3"]},
        {"bytes": 8},
        {"directions": [{"source": "n1", "target": "n2", "times_s": [0.0], "wrong": [0, 0]}] * 2},
    ],
)
def test_a_report_of_other_work_is_no_measurement(
    tmp_path: Path, changes: dict[str, object]
) -> None:
    with pytest.raises(NotMeasured):
        over_mpi(tmp_path, **changes)


@pytest.mark.parametrize(
    "name", ["couldnt_connect", "no_rdma_device", "use_cuda_unsupported_build"]
)
def test_what_could_not_be_measured_is_no_dead_link(tmp_path: Path, name: str) -> None:
    said = (SHIPPED / f"perftest/{name}.txt").read_text()

    with pytest.raises(ParseError):
        over_rdma(tmp_path, {name_of("n1", "n2", "mlx5_0:1"): said})


def test_a_refused_access_is_no_dead_link(tmp_path: Path) -> None:
    said = DEAD.replace("Failed status 12", "Failed status 4")

    with pytest.raises(ParseError, match="local protection error"):
        over_rdma(tmp_path, {name_of("n1", "n2", "mlx5_0:1"): said})


def test_a_report_of_another_device_is_no_measurement(tmp_path: Path) -> None:
    with pytest.raises(NotMeasured, match="is of the device mlx5_7"):
        over_rdma(tmp_path, {name_of("n1", "n2", "mlx5_0:1"): bandwidth(392, "mlx5_7")})


def test_a_missing_direction_is_no_measurement(tmp_path: Path) -> None:
    with pytest.raises(MissingArtifact):
        measured(tmp_path, {"links.json": links("mlx5_0:1"), **ports("mlx5_0:1")})


def test_a_pair_is_two_nodes(tmp_path: Path) -> None:
    with pytest.raises(NotMeasured, match="a pair is two nodes, and this run was on 3"):
        measured(tmp_path, {"links.json": links()}, node_names=("n1", "n2", "n3"))
    with pytest.raises(BadBatchConfig, match="runs on 2 nodes, and 3 are asked for"):
        PairNetBandwidth().make_batch_config(context(nodes=3))


def test_devices_are_named_as_the_kernel_names_them() -> None:
    with pytest.raises(BadParams, match=r"'../mlx5' is no device name"):
        parse_params(PairNetBandwidth, json.dumps({"devices": ["../mlx5"]}))
    assert parse_params(PairNetBandwidth, '{"devices": ["mlx5_0"]}')


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([("n1", "n3"), ("n3", "n1")], "n1→n3 is no pair of n1, n2"),
        ([("n1", "n1")], "n1→n1 is no pair"),
        ([("n1", "n2")], "bandwidth is there for n1→n2, and not for the way back"),
        ([("n1", "n2"), ("n2", "n1"), ("n1", "n2")], "a pair has one metric twice"),
    ],
)
def test_pairs_that_the_run_did_not_have_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: list[tuple[str, str]], why: str
) -> None:
    whole = over_mpi(tmp_path)
    made_up = [PairMetric(source=a, target=b, metric="bandwidth", value=1) for a, b in rows]
    odd = whole.model_copy(update={"pairs": tuple(made_up)})
    monkeypatch.setattr(PairNetBandwidth, "extract_metrics", lambda *_: odd)

    with pytest.raises(NotMeasured, match=why):
        over_mpi(tmp_path)
