"""STREAM on the real cluster: the real hpcc on memory that holds, and on memory that does not."""

import re
import sys
from pathlib import Path

import pytest

from burnin.tests.cli.conftest import Hardware
from deploy.cluster.testing import REPOSITORY, RealCluster
from runner.contract.slugs import Slugs

pytestmark = [pytest.mark.cluster, pytest.mark.slow, pytest.mark.xdist_group("mpi")]
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
DAMAGING = REPOSITORY / "burnin/tests/damaged_arrays.py"
CACHE = {"level": "3", "size": "1024K", "shared_cpu_list": "0-3"}


@pytest.fixture
def facts(tmp_path: Path) -> Path:
    """This machine, but for its cache: to outgrow the real one takes STREAM's hpcc minutes."""
    root = tmp_path / "facts"
    cache = root / "sys/devices/system/cpu/cpu0/cache/index3"
    cache.mkdir(parents=True)
    for name, text in CACHE.items():
        (cache / name).write_text(text)
    for name in ("proc", "etc", "sys/class"):
        (root / name).symlink_to(f"/{name}")
    return root


def dispatched(
    hardware_tests: Hardware, cluster: RealCluster, facts: Path, directory: Path
) -> tuple[int, str]:
    """Run it with what lies in bin/ before the node's own tools."""
    text = cluster.local_toml.read_text()
    for key, value in {
        "node_path": f"{directory}/bin:{SYSTEM_PATH}",
        "facts_root": str(facts),
        "name": "here",
    }.items():
        text = re.sub(rf'^{key} = ".*"', f'{key} = "{value}"', text, count=1, flags=re.MULTILINE)
    sites = directory / "var" / "sites"
    sites.mkdir(parents=True)
    (sites / "here.toml").write_text(text)
    where = ("--site", "here", "--partition", "main", "--timeout", "10", "--evidence")
    said = hardware_tests("dispatch", Slugs.MEMORY_BANDWIDTH, *where)
    return said.exit_code, said.stdout


def test_memory_that_holds_passes_with_its_triad(
    hardware_tests: Hardware, cluster: RealCluster, facts: Path, tmp_path: Path
) -> None:
    exit_code, said = dispatched(hardware_tests, cluster, facts, tmp_path)

    assert exit_code == 0, said
    assert "PASSED: Checks that found wrong data 0, allows at most 0" in said
    assert re.search(r"Memory, read and written +\d\S* GB/s", said)
    assert re.search(r"STREAM triad on \d+ cores? at once; one alone \S+ GB/s", said)


def test_memory_that_changes_while_stream_goes_through_it_fails(
    hardware_tests: Hardware, cluster: RealCluster, facts: Path, tmp_path: Path
) -> None:
    mpirun = tmp_path / "bin" / "mpirun"
    mpirun.parent.mkdir()
    mpirun.write_text(f'#!/bin/sh\nexec {sys.executable} -IS {DAMAGING} /usr/bin/mpirun "$@"\n')
    mpirun.chmod(0o755)

    exit_code, said = dispatched(hardware_tests, cluster, facts, tmp_path)

    assert exit_code == 1, said
    assert (
        "FAILED (hardware): Checks that found wrong data 1, allows at most 0 (StarSTREAM)" in said
    )
