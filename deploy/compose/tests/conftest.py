"""The whole composition, up once for the tests of this directory."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy.cluster.testing import RealServices
from deploy.compose.tests.composition import Composition, CompositionFailed


@pytest.fixture(scope="session")
def composition(services: RealServices, worker_id: str) -> Iterator[Composition]:
    """Redis, store, web, worker and beat, each healthy, and the proxy before them.

    The satellite waits for its site's file.
    """
    with tempfile.TemporaryDirectory(prefix="fm-compose-") as home:
        made = Composition(Path(home), services.database_url(f"compose_{worker_id}"))
        try:
            _bring_up(made)
            yield made
        finally:
            made.stop()


def _bring_up(made: Composition) -> None:
    for service in ("redis", "store"):
        made.start(service)
        made.await_health(service)
    prepared = made.run("prepare", made.argv("prepare"), timeout_s=180)
    if prepared.returncode:
        raise CompositionFailed(f"prepare: {prepared.stdout}{prepared.stderr}")
    for service in ("web", "worker", "beat"):
        made.start(service)
    for service in ("web", "worker", "beat"):
        made.await_health(service)
    made.start_proxy()
