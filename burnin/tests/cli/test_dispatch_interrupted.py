"""Who ends `hardware_tests dispatch` on the real cluster, and what becomes of its job."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from burnin.tests.cli.test_dispatch import asked
from deploy.cluster.testing import RealCluster
from runner.contract.slugs import Slugs

ROOT = Path(__file__).resolve().parents[3]
pytestmark = pytest.mark.cluster


def start(
    cluster: RealCluster, tmp_path: Path, *arguments: str, stderr: int | None = None
) -> subprocess.Popen[str]:
    environment = os.environ | {
        "SLURM_CONF": str(cluster.slurm_conf),
        "FLEET_VAR_DIR": str(tmp_path / "var"),
    }
    return subprocess.Popen(
        [sys.executable, "manage.py", "hardware_tests", *arguments, "--local"],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
    )


def job_id_once_submitted(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        if found := re.search(r"submitted as Slurm job (\d+)", line):
            return found[1]
    raise AssertionError("the command ended before the job was submitted")


def job_id_once_running(process: subprocess.Popen[str]) -> str:
    """Read the command's own words until it says that the job runs; return Slurm's id of it."""
    assert process.stdout is not None
    job_id = ""
    for line in process.stdout:
        if found := re.search(r"submitted as Slurm job (\d+)", line):
            job_id = found[1]
        if "RUNNING" in line:
            return job_id
    raise AssertionError("the command ended before the job ran")


def the_rest(process: subprocess.Popen[str]) -> tuple[int, str]:
    stdout, _ = process.communicate(timeout=120)
    return process.returncode, stdout


LONG = asked(Slugs.MEMORY_STRESS, params='{"duration_s": 600}', timeout=20)


def test_control_c_cancels_the_run_and_says_so(cluster: RealCluster, tmp_path: Path) -> None:
    process = start(cluster, tmp_path, *LONG)
    job_id_once_running(process)

    process.send_signal(signal.SIGINT)

    exit_code, said = the_rest(process)
    assert exit_code == 4
    assert said.splitlines()[-1] == "SKIPPED: cancelled by the operator (Ctrl-C)"


def test_a_run_whose_reader_has_left_is_cancelled_in_silence(
    cluster: RealCluster, tmp_path: Path
) -> None:
    """`dispatch … | head -1`: nobody is left to read the verdict, or to end the job."""
    process = start(cluster, tmp_path, *LONG, stderr=subprocess.PIPE)
    job_id = job_id_once_submitted(process)
    assert process.stdout is not None
    process.stdout.close()

    _, complaints = process.communicate(timeout=120)

    assert complaints == ""
    assert process.returncode == 4
    assert cluster.run("squeue", "-h", "-t", "all", "-j", job_id, "-o", "%T").split() == [
        "CANCELLED"
    ]


def test_a_run_cancelled_by_somebody_else_says_so(cluster: RealCluster, tmp_path: Path) -> None:
    process = start(cluster, tmp_path, *LONG)
    job_id = job_id_once_running(process)

    cluster.run("scancel", job_id)

    exit_code, said = the_rest(process)
    assert exit_code == 4
    assert said.splitlines()[-1] == "SKIPPED: cancelled with scancel, not by Fleet Manager"
