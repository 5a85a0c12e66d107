"""Metrics: what a declaration says, and what is no measurement."""

import math
from typing import Any

import pytest
from pydantic import ValidationError

from burnin.hardware_tests.metrics import (
    MAX_DETAIL_BYTES,
    BaseMetrics,
    Better,
    MetricUnit,
    PairMetric,
    PairwiseNetworkMetrics,
    clip_detail,
    metric,
)
from burnin.tests.hardware_tests.toy import ToyMetrics, toy_metrics


def planted(name: str, declaration: Any) -> type[BaseMetrics]:
    return type("Planted", (BaseMetrics,), {"__annotations__": {name: float}, name: declaration})


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, None, True, "7", [7.0]])
def test_what_is_no_number_is_no_measurement(value: object) -> None:
    with pytest.raises(ValidationError):
        toy_metrics(read_bandwidth=value)


def test_a_missing_metric_is_refused() -> None:
    with pytest.raises(ValidationError, match="responded"):
        ToyMetrics.model_validate({"read_bandwidth": 7.0, "read_latency": 1.0, "drive_count": 1})


def test_not_asked_for_must_be_said() -> None:
    given = toy_metrics().model_dump()
    del given["disk_space"]

    with pytest.raises(ValidationError, match="disk_space"):
        ToyMetrics.model_validate(given)


def test_the_response_is_in_declared_order_and_hides_what_nobody_acts_on() -> None:
    metrics = toy_metrics(details={"read_bandwidth": "nvme1n1"})

    response = metrics.to_metrics_response()

    assert [each["name"] for each in response] == ["read_bandwidth", "read_latency", "responded"]
    assert response[0] == {
        "name": "read_bandwidth",
        "label": "Slowest drive, read",
        "value": 7.0,
        "unit": "GB/s",
        "better": "higher",
        "detail": "nvme1n1",
    }


@pytest.mark.parametrize(
    "name",
    ["read_gbps", "latency_us", "latency_ms", "read_gb_s", "free_bytes", "took_s", "p99_us_read"],
)
def test_a_unit_in_a_metric_name_is_refused(name: str) -> None:
    with pytest.raises(TypeError, match=f"Planted.{name} has a unit in its name"):
        planted(name, metric(MetricUnit.COUNT, label="Planted"))


def test_a_metric_without_a_declaration_is_refused() -> None:
    with pytest.raises(TypeError, match=r"Planted\.speed is not declared with metric"):
        planted("speed", 1.0)


def test_a_metric_without_a_label_is_refused() -> None:
    with pytest.raises(TypeError, match="has no label"):
        planted("speed", metric(MetricUnit.COUNT, label=" "))


@pytest.mark.parametrize("window", [(1, 1000), (0, 5), (5, 5), (-1, 3), (9, 2)])
def test_a_window_that_lets_a_factor_of_a_thousand_through_is_refused(
    window: tuple[float, float],
) -> None:
    with pytest.raises(TypeError, match="would not refuse a slip by a thousand"):
        planted("speed", metric(MetricUnit.GB_S, label="Speed", plausible=window))


def test_a_detail_names_a_metric_and_is_short() -> None:
    with pytest.raises(ValidationError, match="no metric of ToyMetrics"):
        toy_metrics(details={"nothing": "x"})
    with pytest.raises(ValidationError, match="longer than 2048 bytes"):
        toy_metrics(details={"responded": "ä" * MAX_DETAIL_BYTES})


def test_a_long_detail_can_be_cut_to_fit() -> None:
    clipped = clip_detail("ä" * MAX_DETAIL_BYTES)

    assert clipped.endswith("…")
    assert toy_metrics(details={"responded": clipped}).details["responded"] == clipped
    assert clip_detail("short") == "short"


def test_the_schema_carries_unit_and_direction_as_plain_data() -> None:
    schema = ToyMetrics.model_json_schema()

    assert schema["properties"]["read_bandwidth"]["metric"]["unit"] == "GB/s"
    assert schema["properties"]["read_bandwidth"]["metric"]["better"] == "higher"


def test_bytes_and_bits_are_different_units() -> None:
    assert (MetricUnit.GB_S.value, MetricUnit.GBPS.value) == ("GB/s", "Gb/s")


def test_pairwise_metrics_need_their_pairs() -> None:
    class Pairs(PairwiseNetworkMetrics):
        slowest: float = metric(MetricUnit.GBPS, better=Better.HIGHER, label="Slowest pair")

    row = PairMetric(source="n1", target="n2", metric="slowest", value=9.4)

    assert Pairs(slowest=9.4, pairs=(row,)).to_metrics_response()[0]["value"] == 9.4
    with pytest.raises(ValidationError, match="pairs"):
        Pairs(slowest=9.4, pairs=())
