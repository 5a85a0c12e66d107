"""Measurements with a wished margin to their bound, for tests of what is kept of them."""

from burnin.hardware_tests.evaluation import evaluate_metrics
from burnin.hardware_tests.iterations import Measured
from burnin.hardware_tests.metrics import (
    BaseMetrics,
    Better,
    MetricUnit,
    PairwiseNetworkMetrics,
    metric,
)
from burnin.hardware_tests.thresholds.schema import Bound, ThresholdSet

BOUND = 8.0


class Speed(BaseMetrics):
    """One number."""

    speed: float = metric(MetricUnit.GB_S, better=Better.HIGHER, label="Speed")


class PairSpeed(PairwiseNetworkMetrics):
    """One number, and that of each direction."""

    speed: float = metric(MetricUnit.GB_S, better=Better.HIGHER, label="Speed")


def measured_margin(margin: float, *, detail: str = "") -> Measured:
    """Return a measurement that lies `margin` of its bound above it, judged by its one gate."""
    bound = Bound(
        "speed", BOUND, Better.HIGHER, MetricUnit.GB_S, "shipped:1", source="the data sheet"
    )
    limits = ThresholdSet("single-node.hello-world", "cpu-generic", "shipped:1", {"speed": bound})
    metrics = Speed(speed=BOUND * (1 + margin), details={"speed": detail} if detail else {})
    return Measured(metrics, evaluate_metrics(metrics, limits), limits.bounds, None)
