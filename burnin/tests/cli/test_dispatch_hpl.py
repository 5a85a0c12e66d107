"""HPL on the real cluster: the real hpcc on memory that holds, and on memory that decays."""

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from burnin.tests.cli.conftest import Hardware
from deploy.cluster.testing import REPOSITORY, RealCluster
from runner.contract.slugs import Slugs

pytestmark = [pytest.mark.cluster, pytest.mark.slow, pytest.mark.xdist_group("mpi")]
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
DECAYING = REPOSITORY / "burnin/tests/decaying_memory.py"


@pytest.fixture
def cluster(start_cluster: Callable[..., RealCluster]) -> RealCluster:
    """Nodes of so little memory that HPL solves in seconds."""
    return start_cluster("--nodes", "1", "--memory-mb", "24", "--no-accounting")


def write_tool(directory: Path, name: str, command: str) -> None:
    directory.mkdir(exist_ok=True)
    (directory / name).write_text(f"#!/bin/sh\n{command}\n")
    (directory / name).chmod(0o755)


def dispatched(hardware_tests: Hardware, cluster: RealCluster, directory: Path) -> tuple[int, str]:
    """Run it with what lies in bin/ before the node's own tools."""
    text = re.sub(
        r'node_path = ".*"',
        f'node_path = "{directory}/bin:{SYSTEM_PATH}"',
        cluster.local_toml.read_text(),
    )
    sites = directory / "var" / "sites"
    sites.mkdir(parents=True)
    (sites / "here.toml").write_text(re.sub(r'^name = ".*"', 'name = "here"', text))
    where = ("--site", "here", "--partition", "main", "--timeout", "10", "--evidence")
    said = hardware_tests("dispatch", Slugs.HPL_CPU, *where)
    return said.exit_code, said.stdout


def test_hpl_passes_here(hardware_tests: Hardware, cluster: RealCluster, tmp_path: Path) -> None:
    exit_code, said = dispatched(hardware_tests, cluster, tmp_path)

    assert exit_code == 0, said
    assert "PASSED: Parts with wrong results 0, allows at most 0" in said
    assert re.search(r"Slurm +job \d+ COMPLETED on n1, exit 0:0, derived 0:0", said)
    assert re.search(r"N=1536, libopenblasp?-r.*\.so", said)


def test_memory_that_changes_while_hpl_solves_fails(
    hardware_tests: Hardware, cluster: RealCluster, tmp_path: Path
) -> None:
    mpirun = f'exec {sys.executable} -IS {DECAYING} /usr/bin/mpirun "$@"'
    write_tool(tmp_path / "bin", "mpirun", mpirun)

    exit_code, said = dispatched(hardware_tests, cluster, tmp_path)

    assert exit_code == 1, said
    assert re.search(
        r"FAILED \(hardware\): Parts with wrong results 1, allows at most 0 \(HPL: residual \S+"
        r" FAILED at N=1536\)",
        said,
    )


def test_an_hpcc_that_does_not_start_is_errored(
    hardware_tests: Hardware, cluster: RealCluster, tmp_path: Path
) -> None:
    write_tool(tmp_path / "bin", "hpcc", "exit 127")

    exit_code, said = dispatched(hardware_tests, cluster, tmp_path)

    assert exit_code == 2, said
    assert "ERRORED (test): hpcc did not get to its end (exit 127)" in said
