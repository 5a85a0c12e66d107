"""node-health on the real cluster: what this machine tells, and what a tool finds broken on it."""

import json
import re
from pathlib import Path

import pytest

from burnin.tests.cli.conftest import Hardware
from burnin.tests.faulty_tools import TROUBLE, TROUBLED_IPMITOOL
from deploy.cluster.testing import RealCluster
from runner.contract.slugs import Slugs

pytestmark = [pytest.mark.cluster, pytest.mark.slow]
# What any Linux machine tells, in a container too.
CHECKS = [
    "memory_size",
    "cpu_count",
    "cpu_cores",
    "kernel_versions",
    "iommu_groups",
    "filesystems",
    "disk_space",
    "shared_memory",
    "limited_locked_memory",
    "swap_devices",
    "stuck_processes",
    "uptime",
    "large_free_blocks",
    "slurm_complaints",
]


def dispatched(
    hardware_tests: Hardware, cluster: RealCluster, directory: Path, checks: list[str]
) -> tuple[int, str]:
    """Run the checks with what lies in bin/ before the node's own tools."""
    text = re.sub(
        r'node_path = "(.*)"',
        rf'node_path = "{directory}/bin:\1"',
        cluster.local_toml.read_text(),
    )
    sites = directory / "var" / "sites"
    sites.mkdir(parents=True)
    (sites / "here.toml").write_text(re.sub(r'^name = ".*"', 'name = "here"', text))
    params = json.dumps({"checks": checks, "watch_s": 1})
    where = ("--site", "here", "--partition", "main", "--timeout", "5", "--evidence")
    said = hardware_tests("dispatch", Slugs.NODE_HEALTH, "--params", params, *where)
    return said.exit_code, said.stdout


def test_what_any_machine_tells_passes_here(
    hardware_tests: Hardware, cluster: RealCluster, tmp_path: Path
) -> None:
    exit_code, said = dispatched(hardware_tests, cluster, tmp_path, CHECKS)

    assert exit_code == 0, said
    assert "States that Slurm holds against the node 0, allows at most 0" in said


def test_a_fault_in_the_boards_event_log_fails_beside_a_check_that_cannot_be_read(
    hardware_tests: Hardware, cluster: RealCluster, tmp_path: Path
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/ipmitool").write_text(TROUBLED_IPMITOOL)
    (tmp_path / "bin/ipmitool").chmod(0o755)
    checks = [*CHECKS, "event_log_faults", "imex_nodes_not_ready"]

    exit_code, said = dispatched(hardware_tests, cluster, tmp_path, checks)

    assert exit_code == 1, said
    assert f"Faults in the board's event log 1, allows at most 0 ({TROUBLE})" in said


def test_a_tool_that_is_missing_is_errored_and_named(
    hardware_tests: Hardware, cluster: RealCluster, tmp_path: Path
) -> None:
    checks = [*CHECKS, "imex_nodes_not_ready"]

    exit_code, said = dispatched(hardware_tests, cluster, tmp_path, checks)

    assert exit_code == 2, said
    assert "nvidia-imex-ctl is not installed on node n" in said
