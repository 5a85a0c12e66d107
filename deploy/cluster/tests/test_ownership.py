"""Whose a daemon is: only an argument or an open file that a path of the cluster begins tells."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from deploy.cluster import processes
from deploy.cluster.layout import Cluster, Options, Ports

Spawn = Callable[..., int]
PORTS = Ports(slurmctld=1, slurmdbd=2, sshd=3, first_slurmd=4)
# What serves as every daemon: it reads no argument, and ends with its standard input.
SHELL = ("-c", "read line", "daemon")


@pytest.fixture
def cluster(tmp_path: Path) -> Cluster:
    directory = tmp_path / "cluster"
    (directory / "log").mkdir(parents=True)
    return Cluster(directory, directory / "run", Options(), PORTS)


@pytest.fixture
def spawn(tmp_path: Path) -> Iterator[Spawn]:
    """Start a program of that name with these arguments, `log` as its output; return its pid."""
    started: list[subprocess.Popen[bytes]] = []

    def start(name: str, *arguments: str, log: str = os.devnull) -> int:
        program = tmp_path / "bin" / name
        if not program.exists():
            program.parent.mkdir(exist_ok=True)
            shutil.copy("/bin/bash", program)
        with Path(log).open("ab") as output:
            argv = [str(program), *SHELL, *arguments]
            process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=output, stderr=output)
        started.append(process)
        return process.pid

    yield start
    for process in started:
        process.kill()
        process.communicate()


def found(cluster: Cluster) -> list[int]:
    return [process.pid for process in processes.find(cluster)]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("slurmctld", ["-D", "-f", "{}/slurm.conf"]),
        ("slurmd", ["-D", "-f", "{}/slurm.conf", "-N", "n1"]),
        ("munged", ["--socket={}/run/munge.socket"]),
        ("mariadbd", ["--datadir={}/database/data"]),
        ("sshd", ["-D", "-f", "{}/ssh/sshd_config"]),
        ("redis-server", ["{}/services/redis/redis.conf"]),
        ("postgres", ["-D", "{}/services/postgres/data"]),
        ("rclone", ["serve", "s3", "{}/services/s3"]),
    ],
)
def test_a_daemon_is_known_by_its_argument_and_one_elsewhere_is_a_stranger(
    cluster: Cluster, spawn: Spawn, name: str, arguments: list[str]
) -> None:
    ours = spawn(name, *[argument.format(cluster.directory) for argument in arguments])
    for elsewhere in (f"/mnt{cluster.directory}", f"{cluster.directory}/prod"):
        spawn(name, *[argument.format(elsewhere) for argument in arguments])

    assert found(cluster) == [ours]


def test_a_program_that_lies_in_the_directory_is_a_stranger(tmp_path: Path, spawn: Spawn) -> None:
    """Clusters share the rclone of a checkout, in which one of them may lie."""
    spawn("rclone", "serve", "s3", "/data")

    assert found(Cluster(tmp_path, tmp_path / "bin", Options(), PORTS)) == []


def test_an_open_log_tells_where_no_argument_does(
    cluster: Cluster, spawn: Spawn, tmp_path: Path
) -> None:
    foreign = tmp_path / "mnt" / str(cluster.directory).lstrip("/") / "log"
    foreign.mkdir(parents=True)
    spawn("slurmdbd", "-D", log=str(foreign / "slurmdbd.log"))
    ours = spawn("slurmdbd", "-D", log=f"{cluster.log_directory}/slurmdbd.log")

    assert found(cluster) == [ours]


def test_sockets_far_from_the_directory_are_the_clusters_too(tmp_path: Path, spawn: Spawn) -> None:
    ours = spawn("redis-server", "--unixsocket", f"{tmp_path}/short/redis.socket")

    assert found(Cluster(tmp_path / "long", tmp_path / "short", Options(), PORTS)) == [ours]
