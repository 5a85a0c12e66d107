"""An attempt's directory, as a node leaves it; and how long Hypothesis may take."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from burnin.hardware_tests.artifacts import ArtifactCollector, open_artifacts
from burnin.tests.hardware_tests.attempt_directory import write_attempt
from burnin.tests.hardware_tests.toy import TOKEN, toy_metrics

# A busy machine is slow, not wrong.
settings.register_profile(
    "unhurried", deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("unhurried")


@pytest.fixture
def attempt_directory(tmp_path: Path) -> Path:
    """A whole attempt of the toy test."""
    report = toy_metrics().model_dump_json(exclude={"details", "fingerprint"})
    return write_attempt(tmp_path / TOKEN.directory, {"toy.json": report})


@pytest.fixture
def attempt(attempt_directory: Path) -> Iterator[ArtifactCollector]:
    with open_artifacts(attempt_directory, TOKEN) as collector:
        yield collector
