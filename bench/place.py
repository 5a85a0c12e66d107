"""Where it is measured: a private Slurm cluster and a hub's services, made new and wiped after."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path

from deploy.cluster import ports, processes, testing
from deploy.cluster.testing import RealCluster, RealServices

ROOT = Path(__file__).resolve().parents[1]
HOME = ROOT / "var" / "bench"
NODES = 64
HELD, OPEN = "down", "main"  # partitions: one never starts a job, one starts them at once
# 10,000 jobs must fit, and be forgotten before the next part looks at the queue. sbatch must not
# give up on a busy machine: that would end a reference loop.
SETTINGS = ("MaxJobCount=60000", "MinJobAge=90", "MessageTimeout=20")
LONGEST_COMMAND_S = 300
FORGOTTEN_S = 240.0  # MinJobAge, and the minute or more that slurmctld takes to purge


class CommandFailed(Exception):
    """A command of the bench itself failed; holds the end of what it said."""


class Place:
    """Brings up what a part asks for, once. `close` ends and deletes all of it."""

    def __init__(self, home: Path = HOME) -> None:
        self.home = home
        self._endings: list[Callable[[], None]] = []

    @cached_property
    def cluster(self) -> RealCluster:
        self.home.mkdir(parents=True, exist_ok=True)
        settings = [word for setting in SETTINGS for word in ("--set", setting)]
        cluster = testing.bring_up(
            self.home / "cluster", "--nodes", str(NODES), "--node-roots", *settings
        )
        _cancel_all(cluster)
        return cluster

    @cached_property
    def services(self) -> RealServices:
        self.home.mkdir(parents=True, exist_ok=True)
        return testing.bring_up_services(self.home / "services")

    @cached_property
    def port(self) -> int:
        """The port of the hub's web."""
        self.home.mkdir(parents=True, exist_ok=True)
        return ports.reserve(self.home, 1).start

    def directory(self, name: str) -> Path:
        """Return a new directory that login host and nodes share."""
        path = self.cluster.work_dir / name
        shutil.rmtree(path, ignore_errors=True)  # an earlier bench's, when that was told to keep
        path.mkdir(parents=True)
        return path

    def at_the_end(self, stop: Callable[[], None]) -> None:
        """Have something stopped before the cluster goes."""
        self._endings.append(stop)

    def stop(self) -> None:
        """Stop what runs besides cluster and services."""
        while self._endings:
            self._endings.pop()()

    def close(self) -> None:
        """End cluster and services and delete all of them."""
        for record in sorted(self.home.glob("*/cluster.json")):
            testing.command("wipe", str(record.parent))

    def slurm(self, *argv: str | Path, cwd: Path | None = None, timeout_s: float = 60) -> str:
        """Run a command where Slurm is, without SSH, and return what it printed."""
        return run(argv, self.cluster.environment, cwd=cwd, timeout_s=timeout_s)

    def await_forgotten(self) -> None:
        """Wait until Slurm tells of no job any more, be it one that has ended."""
        squeue = ("squeue", "-h", "-t", "all", "-o", "%i")
        if not processes.wait_until(lambda: not self.slurm(*squeue), timeout_s=FORGOTTEN_S):
            raise RuntimeError(f"Slurm tells of jobs {FORGOTTEN_S:g} s after the last one")

    def cancel_all(self) -> None:
        """End every job there is; they stay in the queue for MinJobAge."""
        _cancel_all(self.cluster)


def run(
    argv: Sequence[str | Path],
    environment: dict[str, str],
    *,
    cwd: Path | None = None,
    timeout_s: float = LONGEST_COMMAND_S,
) -> str:
    """Run a command to its end. Raises CommandFailed, also when it takes too long."""
    words = [str(word) for word in argv]
    try:
        done = subprocess.run(
            words,
            env=environment,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise CommandFailed(f"`{words[0]}` did not end within {timeout_s:g} s") from error
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip())[-600:]
        raise CommandFailed(f"`{words[0]}` exited {done.returncode}: {said}")
    return done.stdout


def _cancel_all(cluster: RealCluster) -> None:
    for state in ("PENDING", "RUNNING"):
        run(["scancel", "--state", state, "--user", _user()], cluster.environment, timeout_s=120)


def _user() -> str:
    return subprocess.run(["id", "-un"], capture_output=True, text=True, check=True).stdout.strip()
