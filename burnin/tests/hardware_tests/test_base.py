"""Half a test cannot be made, and each refusal names the piece."""

from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import Field

from burnin.hardware_tests.artifacts import ArtifactCollector
from burnin.hardware_tests.base import (
    BaseTest,
    HalfATest,
    MultiNodeTest,
    PairwiseNetworkTestBase,
    SingleNodeTest,
)
from burnin.hardware_tests.batch import SlurmBatchConfig
from burnin.hardware_tests.metrics import BaseMetrics, Better, MetricUnit, metric
from burnin.hardware_tests.run_context import RunContext
from burnin.hardware_tests.thresholds.schema import Thresholds
from burnin.tests.hardware_tests.toy import Toy, ToyMetrics, ToyParams, ToyThresholds

WHOLE: dict[str, Any] = {
    "slug": "single-node.planted",
    "display_name": "Planted",
    "params_class": ToyParams,
    "metrics_class": ToyMetrics,
    "thresholds_class": ToyThresholds,
    "make_batch_config": Toy.make_batch_config,
    "extract_metrics": Toy.extract_metrics,
}


def planted(base: Any = SingleNodeTest, **changes: Any) -> type[BaseTest]:
    pieces = {name: piece for name, piece in {**WHOLE, **changes}.items() if piece is not None}
    return type("Planted", (base,), pieces)


def test_a_whole_test_can_be_made() -> None:
    assert planted().slug == "single-node.planted"


@pytest.mark.parametrize("piece", sorted(WHOLE))
def test_a_missing_piece_is_refused_by_name(piece: str) -> None:
    with pytest.raises(HalfATest, match=f"Planted lacks {piece}"):
        planted(**{piece: None})


@pytest.mark.parametrize("piece", ["params_class", "metrics_class", "thresholds_class"])
def test_a_piece_of_another_kind_is_refused(piece: str) -> None:
    with pytest.raises(HalfATest, match=f"Planted lacks {piece}: give it a"):
        planted(**{piece: dict})


@pytest.mark.parametrize(
    "slug",
    ["multi-node.planted", "planted", "single-node.", "single-node.Planted", "single-node.a_b"],
)
def test_a_slug_of_another_stage_or_form_is_refused(slug: str) -> None:
    with pytest.raises(HalfATest, match=r"its slug must read 'single-node.<words-with-dashes>'"):
        planted(slug=slug)


def test_each_kind_has_its_stage() -> None:
    assert planted(MultiNodeTest, slug="multi-node.planted").stage == "multi-node"
    with pytest.raises(HalfATest, match="must read 'pairwise"):
        planted(PairwiseNetworkTestBase)
    with pytest.raises(HalfATest, match="must be a PairwiseNetworkMetrics"):
        planted(PairwiseNetworkTestBase, slug="pairwise.planted")


class Undecided(BaseMetrics):
    speed: float = metric(MetricUnit.GB_S, better=Better.HIGHER, label="Speed")


class Excused(BaseMetrics):
    speed: float = metric(
        MetricUnit.GB_S, better=Better.HIGHER, label="Speed", gate_reason="for reading only"
    )


class NoLimits(Thresholds):
    pass


class LimitOfNothing(Thresholds):
    speed: float = Field(gt=0)
    colour: float = Field(gt=0)


def test_a_direction_without_a_threshold_is_refused() -> None:
    with pytest.raises(HalfATest, match=r"Undecided.speed has a direction but NoLimits no limit"):
        planted(metrics_class=Undecided, thresholds_class=NoLimits)


def test_a_direction_may_say_why_nothing_gates_it() -> None:
    assert planted(metrics_class=Excused, thresholds_class=NoLimits).metrics_class is Excused


def test_a_threshold_of_no_metric_is_refused() -> None:
    with pytest.raises(HalfATest, match=r"LimitOfNothing.colour limits no metric"):
        planted(metrics_class=Undecided, thresholds_class=LimitOfNothing)


def test_an_abstract_test_may_be_half() -> None:
    class Family(SingleNodeTest, abstract=True):
        display_name = "Family"

    assert Family.is_abstract
    assert not Toy.is_abstract


def test_a_subclass_of_a_family_must_be_whole() -> None:
    class Family(SingleNodeTest, abstract=True):
        def make_batch_config(self, context: RunContext) -> SlurmBatchConfig:
            return Toy().make_batch_config(context)

    with pytest.raises(HalfATest, match=r"Planted lacks extract_metrics\(\)"):
        planted(Family, make_batch_config=None, extract_metrics=None)


def test_measuring_stamps_the_fingerprint(attempt: ArtifactCollector) -> None:
    metrics = Toy().measure(attempt)

    assert metrics.fingerprint == Toy().measure(attempt).fingerprint
    assert len(metrics.fingerprint or "") == 16
    assert metrics.num_nodes == len(attempt.metadata.node_names)


def test_a_report_may_know_the_version_that_the_node_could_not_ask(
    attempt: ArtifactCollector,
) -> None:
    class InContainer(Toy):
        slug = "single-node.toy-in-a-container"
        fingerprint_tools = ("tool",)

        def tool_versions(self, artifact_collector: ArtifactCollector) -> Mapping[str, str]:
            return {"tool": "2.0"}

    class Silent(InContainer):
        slug = "single-node.toy-without-a-version"

        def tool_versions(self, artifact_collector: ArtifactCollector) -> Mapping[str, str]:
            return {}

    assert InContainer().measure(attempt).fingerprint
    assert Silent().measure(attempt).fingerprint is None
