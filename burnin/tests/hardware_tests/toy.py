"""A complete small test with a limit in each direction, and ways to break it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import Field

from burnin.hardware_tests.artifacts import ArtifactCollector
from burnin.hardware_tests.base import SingleNodeTest
from burnin.hardware_tests.batch import SlurmBatchConfig, make_single_node_slurm_batch_config
from burnin.hardware_tests.metrics import BaseMetrics, Better, MetricUnit, MetricValue, metric
from burnin.hardware_tests.params import TestParams
from burnin.hardware_tests.run_context import RunContext
from burnin.hardware_tests.thresholds.schema import Bound, Standing, Thresholds, ThresholdSet
from runner.contract.wire import AttemptToken

TOKEN = AttemptToken("0f8fad5b-d9cb-469f-a165-70867728950e", 1)

THRESHOLDS_TEXT = """\
version: shipped:test
resource_classes: [cpu-generic, big]
tests:
  single-node.toy:
    defaults:
      read_bandwidth: {value: 6, source: data sheet, confidence: A}
      read_latency: {value: 200, source: data sheet, confidence: B}
      responded: {value: 1, source: by definition, confidence: A}
      disk_space: {not_gated: any machine may be full}
    big:
      read_bandwidth: {value: 12, source: calibrated, confidence: A, fingerprint: abc}
"""


class ToyParams(TestParams):
    drives: tuple[str, ...] = Field(default=("a",), min_length=1)
    duration_s: int = Field(default=10, ge=1, le=600)


class ToyMetrics(BaseMetrics):
    read_bandwidth: float = metric(
        MetricUnit.GB_S, better=Better.HIGHER, label="Slowest drive, read", plausible=(0.5, 100)
    )
    read_latency: float = metric(
        MetricUnit.MICROSECONDS, better=Better.LOWER, label="Worst drive", plausible=(10, 5000)
    )
    responded: int = metric(MetricUnit.COUNT, better=Better.EXACT, label="Drives that answered")
    disk_space: MetricValue = metric(MetricUnit.PERCENT, better=Better.HIGHER, label="Free space")
    drive_count: int = metric(MetricUnit.COUNT, label="Drives tested", api_visible=False)


class ToyThresholds(Thresholds):
    read_bandwidth: float = Field(gt=0)
    read_latency: float = Field(gt=0)
    responded: int = Field(ge=0)
    disk_space: float = Field(ge=0, le=100)


class Toy(SingleNodeTest):
    """Reads a drive that does not exist."""

    slug = "single-node.toy"
    display_name = "Toy"
    params_class, metrics_class, thresholds_class = ToyParams, ToyMetrics, ToyThresholds

    def make_batch_config(self, context: RunContext) -> SlurmBatchConfig:
        return make_single_node_slurm_batch_config(context, gpus_per_node=0)

    def extract_metrics(self, artifact_collector: ArtifactCollector) -> ToyMetrics:
        text = artifact_collector.get_custom_file("toy.json").read_text()
        return ToyMetrics.model_validate_json(text)


def toy_metrics(**changes: Any) -> ToyMetrics:
    good: dict[str, Any] = {
        "read_bandwidth": 7.0,
        "read_latency": 150.0,
        "responded": 1,
        "disk_space": None,
        "drive_count": 4,
    }
    return ToyMetrics(**{**good, **changes})


def toy_limits(**changes: Bound) -> ThresholdSet:
    bounds = {
        "read_bandwidth": bound("read_bandwidth", 6.0, Better.HIGHER, MetricUnit.GB_S),
        "read_latency": bound("read_latency", 200.0, Better.LOWER, MetricUnit.MICROSECONDS),
        "responded": bound("responded", 1.0, Better.EXACT, MetricUnit.COUNT),
        "disk_space": not_gated("disk_space", Better.HIGHER, MetricUnit.PERCENT),
    }
    return ThresholdSet("single-node.toy", "cpu-generic", "test", {**bounds, **changes})


def bound(
    name: str, value: Any, better: Better, unit: MetricUnit, *, fingerprint: str | None = None
) -> Bound:
    return Bound(name, value, better, unit, "test", "a source", "A", fingerprint)


def not_gated(name: str, better: Better, unit: MetricUnit) -> Bound:
    return Bound(name, None, better, unit, "test", standing=Standing.NOT_GATED, why="any machine")


def uncalibrated(name: str, better: Better, unit: MetricUnit) -> Bound:
    return Bound(name, None, better, unit, "test", standing=Standing.UNCALIBRATED, why="no data")


def context(**changes: Any) -> RunContext:
    given: dict[str, Any] = {"token": TOKEN, "partition": "main", "timeout_minutes": 10}
    return RunContext(**{**given, **changes})


def thresholds_file(directory: Path, text: str = THRESHOLDS_TEXT) -> Path:
    path = directory / "thresholds.yaml"
    path.write_text(text)
    return path
