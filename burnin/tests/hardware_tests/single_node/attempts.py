"""Attempts for tests of definitions: the canned ones, and ones made up file by file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from burnin.hardware_tests.artifacts import ArtifactCollector, open_artifacts, read_metadata
from burnin.hardware_tests.base import BaseTest
from burnin.hardware_tests.evaluation import EvaluationResult, bound_for
from burnin.hardware_tests.metadata import HardwareTestMetadata
from burnin.hardware_tests.metrics import BaseMetrics
from burnin.hardware_tests.registry import get_test_class
from burnin.hardware_tests.thresholds.schema import Standing, ThresholdSet
from runner.contract.wire import AttemptToken

CANNED = Path(__file__).resolve().parents[4] / "fixtures" / "artifacts"


@contextmanager
def canned_attempt(slug: str, name: str) -> Iterator[ArtifactCollector]:
    """Open fixtures/artifacts/<slug>/<name>, verified as a collected attempt is."""
    directory = CANNED / slug / name
    metadata = read_metadata(directory)
    token = AttemptToken(metadata.run_id, metadata.attempt)
    with open_artifacts(directory, token) as collector:
        yield collector


def canned_result(slug: str, name: str, custom_file: str) -> str:
    """Return the text of one custom artifact of a canned attempt."""
    with canned_attempt(slug, name) as collector:
        return collector.get_custom_file(custom_file).read_text()


def made_up_attempt(
    directory: Path,
    files: Mapping[str, str],
    *,
    params: Mapping[str, Any] | None,
    node_names: Sequence[str] = ("n1",),
) -> ArtifactCollector:
    """Return an attempt with these custom artifacts; `params` None: metadata does not say."""
    for name, text in files.items():
        (directory / name).parent.mkdir(exist_ok=True)
        (directory / name).write_text(text)
    metadata = _metadata(params, node_names)
    return ArtifactCollector(directory, results=directory, metadata=metadata)


def judged(slug: str, metrics: BaseMetrics, resource_class: str = "") -> EvaluationResult:
    """Judge by the limits of a class; of the first that the test is for, if none is named."""
    test = get_test_class(slug)
    limits = test.load_thresholds(resource_class or test.resource_classes()[0])
    return test.evaluate(metrics, limits)


def recorded(slug: str, outcome: str) -> list[str]:
    """Return the names of the canned attempts that ended so: one for each kind of node."""
    found = sorted(path.name for path in (CANNED / slug).iterdir())
    return [name for name in found if name.partition("-")[0] == outcome]


def most_calibrated(test: type[BaseTest], metrics: BaseMetrics, name: str = "") -> ThresholdSet:
    """Return the limits of the class in a canned attempt's name.

    Without one those of the class that leaves the fewest of them uncalibrated.
    """
    only = name.partition("-")[2]
    classes = (only,) if only else test.resource_classes()
    by_class = [test.load_thresholds(each) for each in classes]
    return min(by_class, key=lambda limits: len(uncalibrated(metrics, limits)))


def uncalibrated(metrics: BaseMetrics, limits: ThresholdSet) -> list[str]:
    """Return what was measured and has no limit yet, or only one of other runs than this."""
    return [
        name
        for name, stated in limits.bounds.items()
        if getattr(metrics, name) is not None
        and (bound := bound_for(metrics, stated))
        and (
            bound.standing is Standing.UNCALIBRATED
            or bound.fingerprint not in (None, metrics.fingerprint)
            or bound.num_nodes not in (None, metrics.num_nodes)
            or not bound.fabric.items() <= metrics.fabric.items()
        )
    ]


def what_is_calibrated(metrics: BaseMetrics, limits: ThresholdSet) -> ThresholdSet:
    """Return the limits with those that are not calibrated only shown: the others decide."""
    shown = {
        name: replace(limits.bounds[name], standing=Standing.NOT_GATED, value=None)
        for name in uncalibrated(metrics, limits)
    }
    bounds = {
        name: replace(each, fingerprint=None, num_nodes=None, fabric={}, by_fabric=())
        for name, each in shown.items()
    }
    return replace(limits, bounds={**limits.bounds, **bounds})


def _metadata(params: Mapping[str, Any] | None, node_names: Sequence[str]) -> HardwareTestMetadata:
    said = {
        "schema": 1,
        "run_id": "00000000-0000-4000-8000-000000000001",
        "attempt": 1,
        "slug": "made-up",
        "runner_version": "source",
        "outcome": "ran",
        "reason": "",
        "started_at": 1.0,
        "finished_at": 2.0,
        "last_progress_at": 2.0,
        "node_names": list(node_names),
        "facts": [],
        "iterations": [],
        "slurm": {},
        "artifacts": {},
        "params": params,
    }
    return HardwareTestMetadata.model_validate_json(json.dumps(said))
