"""Finished runs that nobody has collected, and metrics that go wrong."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from burnin.hardware_tests.artifacts import ArtifactCollector
from burnin.hardware_tests.single_node.hello_world import HelloWorld, HelloWorldMetrics
from burnin.tests.workflow.simulated import Hub, make_hub
from burnin.workflow.plan import StepRequest


def finished(*node_names: str, steps: Sequence[StepRequest] = ()) -> Hub:
    """Return a hub with one finished run per node, that nobody has collected."""
    hub = make_hub(*node_names)
    hub.plan(*steps)
    hub.work()
    hub.is_on = False
    hub.advance(60)
    return hub


def extract_otherwise(monkeypatch: pytest.MonkeyPatch, what: Mapping[str, Any]) -> None:
    """Have the metrics of the nodes named be what is given, or raise it."""
    extract = HelloWorld.extract_metrics

    def otherwise(self: HelloWorld, collector: ArtifactCollector) -> HelloWorldMetrics:
        given = what.get(collector.metadata.node_names[0])
        if isinstance(given, type):
            raise given
        metrics = extract(self, collector)
        return metrics if given is None else metrics.model_copy(update=given)

    monkeypatch.setattr(HelloWorld, "extract_metrics", otherwise)
