"""Several processes move and claim the same runs: each move happens once, and nobody deadlocks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import pytest

from deploy.cluster.testing import RealServices

REPOSITORY = Path(__file__).resolve().parents[3]
RUNS, RACERS, LONGEST_S = 200, 4, 180

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture(params=["sqlite", "postgresql"])
def start(request: pytest.FixtureRequest, tmp_path: Path) -> Start:
    """Return a way to start Python programs of a hub with a migrated database of its own."""
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path / 'fleet.sqlite3'}"
    else:
        services: RealServices = request.getfixturevalue("services")
        url = services.database_url(f"race_{os.getpid()}")
    environment = {**os.environ, "FLEET_DATABASE_URL": url, "FLEET_VAR_DIR": str(tmp_path)}

    def run(*arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, *arguments],
            cwd=REPOSITORY,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    _answer(run("manage.py", "migrate", "--verbosity", "0"))
    return run


def _answer(process: subprocess.Popen[str]) -> Any:
    try:
        said, _ = process.communicate(timeout=LONGEST_S)
    finally:
        process.kill()
    assert process.returncode == 0
    return json.loads(said) if said else None


def _stream(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None
    return pipe


def test_racing_processes_move_and_claim_each_run_once(start: Start) -> None:
    racer = "burnin.tests.models.racer"
    assert _answer(start("-m", racer, "seed", str(RUNS))) == RUNS

    racers = [start("-m", racer, "race", str(number)) for number in range(RACERS)]
    for each in racers:
        _stream(each.stdout).readline()  # it is ready
    for each in racers:
        _stream(each.stdin).write("go\n")
        _stream(each.stdin).flush()
    done = [_answer(each) for each in racers]

    assert sum(each["moved"] for each in done) == 4 * RUNS
    assert sum(each["claimed"] for each in done) == RUNS
    states = ("planned", "dispatched", "submitted", "running", "finished")
    assert _answer(start("-m", racer, "tally", "0")) == dict.fromkeys(states, RUNS)
