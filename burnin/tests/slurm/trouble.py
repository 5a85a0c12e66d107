"""Making trouble around sbatch on a real cluster: slow it, kill its shell, stop the controller."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from burnin.slurm import login_host
from burnin.slurm.client import batch_tar
from burnin.slurm.cluster import Submission
from deploy.cluster.testing import RealCluster

SLOW_SBATCH = """#!/bin/bash
sleep {before}
/usr/bin/sbatch "$@"
status=$?
sleep {after}
exit $status
"""
GATED_SBATCH = """#!/bin/bash
wait_for() {{ for _ in $(seq 400); do [ -e {gate}/$1 ] && return; sleep 0.05; done; exit 99; }}
touch {gate}/entered
echo x >> {gate}/calls
wait_for before
/usr/bin/sbatch "$@"
status=$?
touch {gate}/called
wait_for after
exit $status
"""


def wrapped(cluster: RealCluster, directory: Path, sbatch: str) -> dict[str, str]:
    """Return an environment in which `sbatch` is the given script."""
    directory.mkdir()
    (directory / "sbatch").write_text(sbatch)
    (directory / "sbatch").chmod(0o755)
    return {**cluster.environment, "PATH": f"{directory}:/usr/bin:/bin"}


class LoginHost:
    """What a client runs on the login host, as a process group that a test can kill.

    `renewal` is the grace in seconds and the attempts that may be asked for again.
    """

    def __init__(
        self, work_dir: Path, job: Submission, environment: dict[str, str], *renewal: str
    ) -> None:
        self._output = Path(tempfile.mkstemp(dir=work_dir)[1])
        arguments = ["submit", str(work_dir), *(renewal or ["0"])]
        with tempfile.TemporaryFile(dir=work_dir) as batch, self._output.open("wb") as output:
            batch.write(batch_tar([job]))
            batch.seek(0)
            self.process = subprocess.Popen(
                [sys.executable, "-I", "-S", login_host.__file__, *arguments],
                stdin=batch,
                stdout=output,
                env=environment,
                start_new_session=True,
            )

    def kill(self) -> None:
        """End this process, and not the sbatch that it started."""
        self.process.kill()
        self.process.wait()

    def kill_all(self) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def kind_of_answer(self) -> str:
        self.process.wait(30)
        return str(json.loads(self._output.read_text())["kind"])

    @property
    def has_ended(self) -> bool:
        return self.process.poll() is not None

    @property
    def has_called_sbatch(self) -> bool:
        """Say whether an sbatch of this process is at work."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        names = [Path(f"/proc/{pid}/comm").read_text() for pid in children.read_text().split()]
        return "sbatch\n" in names


def sbatch_calls(gate: Path) -> int:
    return (gate / "calls").read_text().count("x")


def routed_through(network: socket.socket, cluster: RealCluster, directory: Path) -> dict[str, str]:
    """Return an environment whose Slurm commands talk to `network` in slurmctld's place."""
    conf = cluster.slurm_conf.read_text()
    there, here = controller_port(cluster), network.getsockname()[1]
    detour = directory / "detour" / "slurm.conf"
    detour.parent.mkdir()
    detour.write_text(conf.replace(f"SlurmctldPort={there}", f"SlurmctldPort={here}"))
    return {**cluster.environment, "SLURM_CONF": str(detour)}


def what_arrives(network: socket.socket) -> bytes:
    """Read one whole Slurm message: its length, then so many bytes."""
    connection, _ = network.accept()
    with connection:
        connection.settimeout(10)
        message = b""
        while len(message) < 4 or len(message) < 4 + int.from_bytes(message[:4], "big"):
            message += connection.recv(65536)
    return message


@contextmanager
def stopped(cluster: RealCluster) -> Iterator[None]:
    """Stop slurmctld, and the process it has for scripts, for the length of the block."""
    controllers = [process.pid for process in cluster.processes("slurmctld")]
    for pid in controllers:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in controllers:
            os.kill(pid, signal.SIGCONT)


def request_waits(cluster: RealCluster) -> bool:
    """Say whether bytes lie unread in a socket of the stopped controller."""
    port = f":{controller_port(cluster):04X}"
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        _, local, _, state, queues = line.split()[:5]
        if local.endswith(port) and state in ("01", "08") and int(queues.split(":")[1], 16):
            return True
    return False


def controller_port(cluster: RealCluster) -> int:
    lines = cluster.slurm_conf.read_text().splitlines()
    return next(int(line.split("=")[1]) for line in lines if line.startswith("SlurmctldPort="))
