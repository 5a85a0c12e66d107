"""Attempts for tests of definitions: the canned ones, and ones made up file by file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from burnin.hardware_tests.artifacts import ArtifactCollector, open_artifacts, read_metadata
from burnin.hardware_tests.evaluation import EvaluationResult
from burnin.hardware_tests.metadata import HardwareTestMetadata
from burnin.hardware_tests.metrics import BaseMetrics
from burnin.hardware_tests.registry import get_test_class
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
    directory: Path, files: Mapping[str, str], *, params: Mapping[str, Any] | None
) -> ArtifactCollector:
    """Return an attempt with these custom artifacts; `params` None: metadata does not say."""
    for name, text in files.items():
        (directory / name).write_text(text)
    return ArtifactCollector(directory, results=directory, metadata=_metadata(params))


def judged(slug: str, metrics: BaseMetrics) -> EvaluationResult:
    test = get_test_class(slug)
    return test.evaluate(metrics, test.load_thresholds("cpu-generic"))


def _metadata(params: Mapping[str, Any] | None) -> HardwareTestMetadata:
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
        "node_names": ["n1"],
        "facts": [],
        "iterations": [],
        "slurm": {},
        "artifacts": {},
        "params": params,
    }
    return HardwareTestMetadata.model_validate_json(json.dumps(said))
