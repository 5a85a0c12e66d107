"""The reference: Slurm by bare hand. A loop of sbatch, and waiting for the queue to be empty."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

from bench.place import CommandFailed, Place

LOOP = 'for script in "$1"/*.sh; do sbatch --parsable "$script" >/dev/null; done'
LOOK_S = 0.2
LIVE_STATES = "PENDING,RUNNING,COMPLETING,CONFIGURING"


def write_scripts(directory: Path, scripts: Iterable[str]) -> None:
    """Write the scripts that `submit_loop` submits, in this order."""
    for number, script in enumerate(scripts):
        (directory / f"{number:05}.sh").write_text(script)


def submit_loop(place: Place, directory: Path) -> None:
    """Submit every script of a directory, one sbatch after the other."""
    place.slurm("bash", "-euc", LOOP, "loop", directory, cwd=directory, timeout_s=240)


def live_jobs(place: Place) -> int:
    listed = place.slurm("squeue", "-h", "-t", LIVE_STATES, "-o", "%i")
    return len(listed.splitlines())


def await_empty_queue(place: Place, *, for_s: float = 240) -> None:
    """Return when no job waits or runs. Raises CommandFailed."""
    deadline = time.monotonic() + for_s
    while live := live_jobs(place):
        if time.monotonic() > deadline:
            raise CommandFailed(f"{live} jobs were not done within {for_s:.0f} s")
        time.sleep(LOOK_S)


def run_all(place: Place, directory: Path) -> None:
    """Submit every script of a directory and wait for all of them."""
    submit_loop(place, directory)
    await_empty_queue(place)
