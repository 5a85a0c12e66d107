"""One whole product for the tests of a module, on a cluster of its own."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from burnin.tests.e2e.stack import Stack
from deploy.cluster.testing import RealCluster, RealServices

MakeStack = Callable[[RealCluster, RealServices], Stack]


@pytest.fixture
def make_stack(tmp_path: Path) -> Iterator[MakeStack]:
    """Make a stack whose processes are gone when the test ends."""
    made: list[Stack] = []

    def make(cluster: RealCluster, services: RealServices) -> Stack:
        home = tmp_path / f"hub{len(made)}"
        database = f"e2e_{os.getpid()}_{tmp_path.name[:40]}_{len(made)}".lower()
        made.append(Stack(home, cluster, services, venv_home=venv_home(), database=database))
        return made[-1]

    yield make
    for stack in made:
        stack.stop()


def venv_home() -> Path:
    """Where the satellite's virtualenv is kept for the whole test session."""
    home = Path(os.environ["FM_TEST_CLUSTERS"])
    home.mkdir(exist_ok=True)
    return home
