"""thresholds.yaml: what it gives, and every slip it refuses, with the line."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import Field

from burnin.hardware_tests.base import BaseTest, SingleNodeTest
from burnin.hardware_tests.metrics import Better, MetricDeclaration, MetricUnit
from burnin.hardware_tests.registry import get_test_class, list_all_tests
from burnin.hardware_tests.thresholds.errors import BadThresholds, NoThresholds
from burnin.hardware_tests.thresholds.loader import load, load_stated, stated_limits
from burnin.hardware_tests.thresholds.magnitude import implausible
from burnin.hardware_tests.thresholds.schema import GenericThresholds, Standing
from burnin.tests.hardware_tests.toy import (
    THRESHOLDS_TEXT,
    Toy,
    ToyMetrics,
    ToyParams,
    ToyThresholds,
    thresholds_file,
)
from runner.contract.slugs import Slugs

LONG_INTEGER = "9" * 401
VALUE_6 = "{value: 6, source: data sheet, confidence: A}"


def changed(directory: Path, old: str, new: str) -> Path:
    assert old in THRESHOLDS_TEXT
    return thresholds_file(directory, THRESHOLDS_TEXT.replace(old, new, 1))


def test_a_bound_carries_value_direction_unit_version_and_source(tmp_path: Path) -> None:
    limits = Toy.load_thresholds("cpu-generic", thresholds_file(tmp_path))

    assert limits.bounds["read_bandwidth"].as_json() == {
        "metric": "read_bandwidth",
        "value": 6,
        "better": "higher",
        "unit": "GB/s",
        "version": "shipped:test",
        "source": "data sheet",
        "confidence": "A",
        "fingerprint": None,
        "num_nodes": None,
        "standing": "gates",
        "why": "",
        "fabric": {},
        "by_fabric": [],
    }
    assert limits.bounds["disk_space"].standing is Standing.NOT_GATED
    assert limits.bounds["disk_space"].why == "any machine may be full"


def test_a_class_stands_before_the_defaults(tmp_path: Path) -> None:
    limits = Toy.load_thresholds("big", thresholds_file(tmp_path))

    assert limits.bounds["read_bandwidth"].value == 12
    assert limits.bounds["read_bandwidth"].fingerprint == "abc"
    assert limits.bounds["read_latency"].value == 200


def test_an_unknown_class_is_refused_with_those_that_are_known(tmp_path: Path) -> None:
    with pytest.raises(NoThresholds) as refused:
        Toy.load_thresholds("h100", thresholds_file(tmp_path))

    assert str(refused.value) == (
        "there is no resource class 'h100' in thresholds.yaml; it knows cpu-generic, big"
    )


def test_a_test_without_limits_is_refused(tmp_path: Path) -> None:
    path = thresholds_file(tmp_path, "version: v\nresource_classes: [cpu-generic]\ntests: {}\n")

    with pytest.raises(NoThresholds, match=r"has no limits for single-node\.toy: add tests:"):
        Toy.load_thresholds("cpu-generic", path)


def test_a_missing_limit_names_the_key_to_add(tmp_path: Path) -> None:
    path = changed(
        tmp_path, "      read_latency: {value: 200, source: data sheet, confidence: B}\n", ""
    )

    with pytest.raises(NoThresholds) as refused:
        Toy.load_thresholds("big", path)

    assert str(refused.value).startswith(
        "thresholds.yaml:4: single-node.toy has no limit for read_latency: "
        "add tests: single-node.toy: big: read_latency: {value: …"
    )


def test_a_test_whose_limits_never_decide_is_refused(tmp_path: Path) -> None:
    undecided = "".join(
        f"      {name}: {{not_gated: because}}\n" for name in ToyThresholds.model_fields
    )
    head = THRESHOLDS_TEXT[: THRESHOLDS_TEXT.index("      read_bandwidth")]

    with pytest.raises(NoThresholds, match=r"thresholds.yaml:4: no limit of .* decides"):
        Toy.load_thresholds("cpu-generic", thresholds_file(tmp_path, head + undecided))


@pytest.mark.parametrize(
    ("slip", "sentence"),
    [
        ("{value: 0.006, source: s, confidence: A}", "0.006 GB/s: outside 0.5 to 100"),
        ("{value: 6000, source: s, confidence: A}", "6000 GB/s: outside 0.5 to 100"),
        ("{value: .nan, source: s, confidence: A}", "nan, which is no number"),
        ("{value: .inf, source: s, confidence: A}", "inf, which is no number"),
        ("{value: true, source: s, confidence: A}", "True, which is no number"),
        ("{value: '6', source: s, confidence: A}", "'6', which is no number"),
        ("{value: 6, confidence: A}", "must say its source in words"),
        ("{value: 6, source: '', confidence: A}", "must say its source in words"),
        ("{value: 6, source: s}", "must say its confidence in words"),
        ("{value: 6, source: s, confidence: D}", "is A, B or C"),
        ("{value: 6, source: s, confidence: A, fingerprint: ''}", "must say its fingerprint"),
        ("{value: 6, source: s, confidence: A, num_nodes: 1}", "for 1 nodes: give 2 to"),
        ("{value: 6, source: s, confidence: A, num_nodes: '2'}", "for '2' nodes: give 2 to"),
        ("{value: 6, source: s, confidence: A, num_nodes: true}", "for True nodes: give 2"),
        (
            "{value: 6, source: s, confidence: A, num_nodes: 100001}",
            "for 100001 nodes: give 2 to 100,000",
        ),
        (f"{{value: {LONG_INTEGER}, source: s, confidence: A}}", "999, which is no number for a"),
        ("{value: 2026-99-99, source: s, confidence: A}", "'2026-99-99' cannot be read as timest"),
        ("{value: 6, source: s, confidence: A, unit: MB}", "no key of read_bandwidth 'unit'"),
        (
            "{value: 6, not_gated: because}",
            "must state one of value, by_fabric, not_gated, uncalibrated",
        ),
        (
            "{source: s, confidence: A}",
            "must state one of value, by_fabric, not_gated, uncalibrated",
        ),
        ("{not_gated: }", "must say its not_gated in words"),
        ("6", "needs value, source and confidence"),
    ],
)
def test_a_slip_in_a_limit_is_refused_with_its_line(
    tmp_path: Path, slip: str, sentence: str
) -> None:
    path = changed(tmp_path, VALUE_6, slip)

    with pytest.raises(BadThresholds) as refused:
        Toy.load_thresholds("cpu-generic", path)

    assert str(refused.value).startswith("thresholds.yaml:6: ")
    assert sentence in str(refused.value)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (
            "read_latency:",
            "read_latenzy:",
            "thresholds.yaml:7: single-node.toy has no limit called",
        ),
        ("single-node.toy", "single-node.toi", "thresholds.yaml:4: there is no test"),
        ("    big:", "    bigg:", "thresholds.yaml:10: there is no resource class 'bigg'"),
        ("version:", "verzion:", "thresholds.yaml:1: there is no key 'verzion'"),
        ("version: shipped:test\n", "", "thresholds.yaml:1: 'version' is missing"),
        ("version: shipped:test", "version: 1.0", "thresholds.yaml:1: 'version' must be a text"),
        ("version: shipped:test", "version: ''", "thresholds.yaml:1: 'version' must be a text"),
        ("[cpu-generic, big]", "cpu-generic", "thresholds.yaml:2: 'resource_classes' must list"),
        ("[cpu-generic, big]", "", "thresholds.yaml:2: 'resource_classes' must list texts"),
        ("[cpu-generic, big]", "[cpu-generic, 7]", "thresholds.yaml:2: 'resource_classes' must"),
        (
            "[cpu-generic, big]",
            "[cpu-generic, big, big]",
            "thresholds.yaml:2: 'resource_classes' must list each class once",
        ),
        ("      responded:", "      read_latency:", "thresholds.yaml:8: 'read_latency' already"),
        ("value: 1,", "value: 1.5,", "thresholds.yaml:8: responded is 1.5"),
        ("value: 200", "value: 0.2", "thresholds.yaml:7: read_latency is 0.2 µs: outside"),
        ("tests:\n", "tests: [\n", "thresholds.yaml: cannot be read"),
    ],
)
def test_a_slip_in_the_file_is_refused_with_its_line(
    tmp_path: Path, old: str, new: str, sentence: str
) -> None:
    path = changed(tmp_path, old, new)

    with pytest.raises(BadThresholds) as refused:
        Toy.load_thresholds("cpu-generic", path)

    assert str(refused.value).startswith(sentence)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadThresholds, match=r"thresholds.yaml: cannot be read"):
        Toy.load_thresholds("cpu-generic", tmp_path / "thresholds.yaml")


class PickyThresholds(ToyThresholds):
    responded: int = Field(ge=2)


class Picky(SingleNodeTest):
    slug = "single-node.toy"
    display_name = "Picky"
    params_class, metrics_class, thresholds_class = ToyParams, ToyMetrics, PickyThresholds
    make_batch_config, extract_metrics = Toy.make_batch_config, Toy.extract_metrics


class Generic(SingleNodeTest):
    slug = "single-node.toy"
    display_name = "Generic"
    params_class, metrics_class, thresholds_class = ToyParams, ToyMetrics, GenericThresholds
    make_batch_config, extract_metrics = Toy.make_batch_config, Toy.extract_metrics


def test_the_schema_of_the_test_has_a_say(tmp_path: Path) -> None:
    with pytest.raises(BadThresholds, match="responded: Input should be greater than or equal"):
        Picky.load_thresholds("cpu-generic", thresholds_file(tmp_path))


@pytest.mark.parametrize("factor", [1000, 0.001, 1024, 1 / 1024, 1e6])
@pytest.mark.parametrize(("value", "line"), [("value: 6", 6.0), ("value: 200", 200.0)])
def test_a_limit_a_thousand_times_too_small_or_large_is_refused(
    tmp_path: Path, factor: float, value: str, line: float
) -> None:
    path = changed(tmp_path, f"{value},", f"value: {line * factor:.9f},")

    with pytest.raises(BadThresholds, match="is the unit right"):
        Toy.load_thresholds("cpu-generic", path)


def test_plain_numbers_need_no_schema_of_their_own(tmp_path: Path) -> None:
    limits = Generic.load_thresholds("cpu-generic", thresholds_file(tmp_path))
    plain = GenericThresholds.model_validate({"read_bandwidth": 6.0})

    assert limits.bounds["read_latency"].value == 200
    assert plain.catalogue_thresholds() == {"read_bandwidth": 6.0}


@pytest.mark.parametrize(
    ("test", "resource_class"),
    [(test, each) for test in list_all_tests() for each in test.resource_classes()],
    ids=lambda each: getattr(each, "slug", each),
)
def test_the_shipped_limits_pass_each_tests_own_schema(
    test: type[BaseTest], resource_class: str
) -> None:
    limits = load(test, resource_class)

    assert any(bound.standing is not Standing.NOT_GATED for bound in limits.bounds.values())


def shipped_gates() -> list[tuple[MetricDeclaration, float]]:
    return [
        (test.metrics_class.declarations()[bound.metric], bound.value)
        for test in list_all_tests()
        for resource_class in test.resource_classes()
        for bound in load(test, resource_class).bounds.values()
        if bound.value
    ]


@pytest.mark.parametrize(("declared", "value"), shipped_gates())
def test_no_shipped_limit_could_be_a_thousand_times_smaller(
    declared: MetricDeclaration, value: float
) -> None:
    assert implausible(value, declared) == ""
    assert implausible(value / 1000, declared)


@pytest.mark.parametrize(("declared", "value"), shipped_gates())
def test_no_shipped_limit_with_a_unit_could_be_a_thousand_times_larger(
    declared: MetricDeclaration, value: float
) -> None:
    assert declared.unit is MetricUnit.COUNT or implausible(value * 1000, declared)


@pytest.mark.parametrize("value", [-1, 0.5, 2_000_000])
def test_a_count_is_a_whole_number(value: float) -> None:
    declared = ToyMetrics.declarations()["responded"]

    assert "a count is a whole number" in implausible(value, declared)


def test_a_floor_of_nothing_is_refused() -> None:
    declared = replace(ToyMetrics.declarations()["responded"], better=Better.HIGHER)

    assert implausible(0, declared) == "anything would pass a floor of 0"


def test_a_unit_without_a_window_asks_for_one() -> None:
    declared = replace(ToyMetrics.declarations()["read_bandwidth"], plausible=None)

    assert "declare metric(MetricUnit.GB_S, …, plausible=" in implausible(6, declared)


def _by_fabric(*limits: str) -> str:
    return f"{{by_fabric: [{', '.join(limits)}]}}"


def _limit(value: float, **more: str) -> str:
    said = "".join(f", {name}: {text}" for name, text in more.items())
    return f"{{value: {value}, source: s, confidence: A{said}}}"


@pytest.mark.parametrize(
    ("slip", "sentence"),
    [
        (_limit(6, fabric="{speed: fast}"), "the fabric of read_bandwidth must state some of"),
        (_limit(6, fabric="{nvls: 1}"), "nvls of read_bandwidth cannot be 1"),
        (_limit(6, fabric="{rate: -5}"), "rate of read_bandwidth cannot be -5"),
        (_limit(6, fabric="{rate: 0}"), "rate of read_bandwidth cannot be 0"),
        (_limit(6, fabric="{rate: .nan}"), "rate of read_bandwidth cannot be nan"),
        (_limit(6, fabric="{rate: .inf}"), "rate of read_bandwidth cannot be inf"),
        (_limit(6, fabric=f"{{rate: {LONG_INTEGER}}}"), "rate of read_bandwidth cannot be 999"),
        (_limit(6, fabric="{network: ''}"), "network of read_bandwidth cannot be ''"),
        (_limit(6, fabric="{network: ' '}"), "network of read_bandwidth cannot be ' '"),
        (_by_fabric(_limit(6)), "must list two values or more"),
        (_by_fabric("{not_gated: because}", _limit(6)), "must list two values or more"),
        (_by_fabric(_limit(6), "7"), "must list limits"),
        (
            _by_fabric(_limit(6, num_nodes="2"), _limit(7, fabric="{nvls: true}")),
            "two limits of read_bandwidth hold for one result: 6 and 7",
        ),
        (_by_fabric(_limit(6000, num_nodes="2"), _limit(7, num_nodes="4")), "is the unit right?"),
    ],
)
def test_a_slip_in_limits_by_network_is_refused(tmp_path: Path, slip: str, sentence: str) -> None:
    with pytest.raises(BadThresholds, match=re.escape(sentence)):
        Toy.load_thresholds("cpu-generic", changed(tmp_path, VALUE_6, slip))


def test_limits_by_network_are_the_same_from_the_file_and_from_a_database() -> None:
    test = get_test_class(Slugs.NCCL_ALL_GATHER)
    version, stated = stated_limits(test, "h100-sxm5-8x")

    kept = load_stated(test, "h100-sxm5-8x", json.loads(json.dumps(stated)), version=version)

    assert kept.bounds == test.load_thresholds("h100-sxm5-8x").bounds
    assert [each.value for each in kept.bounds["bus_bandwidth"].by_fabric] == [321, 150, 60, 307]
