"""Tests over several nodes on the real cluster: each passes, and fails by what it measured."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from burnin.tests.cli.conftest import Hardware
from burnin.tests.faulty_nodes import (
    FLIPS_A_VALUE,
    HAS_NO_MPI,
    HAS_NO_NUMPY,
    HAS_NO_TOOLS,
    RECEIVES_WRONG,
    SERVES_NOBODY,
    corrupting_fio,
    faulty_srun,
)
from deploy.cluster.testing import RealCluster
from runner.contract.slugs import Slugs

pytestmark = [pytest.mark.cluster, pytest.mark.xdist_group("mpi")]
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
FOUR = ("--nodelist", "n[1-4]")
PAIR = ("--nodelist", "n[1-2]")
ANY_TWO = ("--nodes", "2")
Dispatch = Callable[..., tuple[int, str]]


@pytest.fixture
def dispatch(hardware_tests: Hardware, cluster: RealCluster, tmp_path: Path) -> Dispatch:
    """Run a test on four nodes of the cluster, with a faulty node if one is asked for."""

    def run(
        slug: str,
        fault: str = "",
        *,
        params: str = "{}",
        nodes: tuple[str, ...] = FOUR,
        tools: Path | None = None,
    ) -> tuple[int, str]:
        path = f"{faulty_srun(tmp_path / 'bin', fault, node='n2')}:" if fault else ""
        path += f"{tools}:" if tools else ""
        text = re.sub(
            r'node_path = ".*"',
            f'node_path = "{path}{SYSTEM_PATH}"',
            cluster.local_toml.read_text(),
        )
        sites = tmp_path / "var" / "sites"
        sites.mkdir(parents=True, exist_ok=True)
        (sites / "here.toml").write_text(re.sub(r'^name = ".*"', 'name = "here"', text))
        where = ("--site", "here", "--partition", "main", "--timeout", "5")
        what = ("dispatch", slug, "--params", params)
        said = hardware_tests(*what, *where, *nodes, "--evidence")
        return said.exit_code, said.stdout

    return run


def test_an_all_reduce_over_four_nodes_passes(dispatch: Dispatch) -> None:
    exit_code, said = dispatch(Slugs.MPI_ALL_REDUCE)

    assert exit_code == 0, said
    assert re.search(r"Slurm +job \d+ COMPLETED on n\[1-4\], exit 0:0, derived 0:0", said)
    assert "[4 ranks, MPICH" in said


@pytest.mark.slow
@pytest.mark.parametrize("slug", [Slugs.MPI_ALL_GATHER, Slugs.MPI_ALL_TO_ALL])
def test_every_collective_over_four_nodes_passes(dispatch: Dispatch, slug: str) -> None:
    exit_code, said = dispatch(slug)

    assert exit_code == 0, said


@pytest.mark.slow
@pytest.mark.parametrize("slug", [Slugs.MPI_ALL_REDUCE, Slugs.MPI_ALL_GATHER, Slugs.MPI_ALL_TO_ALL])
def test_a_value_that_changes_on_one_node_fails_and_names_the_node(
    dispatch: Dispatch, slug: str
) -> None:
    exit_code, said = dispatch(slug, FLIPS_A_VALUE)

    assert exit_code == 1, said
    assert "FAILED (hardware): Wrong values 2, allows at most 0 (n2: 1 of 131072 values" in said


@pytest.mark.slow
def test_a_node_without_mpi_is_errored_and_named(dispatch: Dispatch) -> None:
    exit_code, said = dispatch(Slugs.MPI_ALL_REDUCE, HAS_NO_MPI)

    assert exit_code == 2, said
    assert "ERRORED (test): all-reduce left no report (exit " in said
    assert "n2: no MPI library of MPICH's kind" in said


@pytest.mark.slow
def test_every_pair_of_four_nodes_is_measured(dispatch: Dispatch) -> None:
    exit_code, said = dispatch(Slugs.IPERF_MATRIX, params='{"duration_s": 1}')

    assert exit_code == 0, said
    assert "PASSED: Pairs without a connection 0, allows at most 0" in said


@pytest.mark.slow
def test_a_node_that_serves_nobody_fails_with_each_pair_named(dispatch: Dispatch) -> None:
    exit_code, said = dispatch(Slugs.IPERF_MATRIX, SERVES_NOBODY, params='{"duration_s": 1}')

    assert exit_code == 1, said
    assert "FAILED (hardware): Pairs without a connection 3, allows at most 0 (n1→n2: " in said


@pytest.mark.slow
def test_a_node_without_iperf3_is_errored_and_named(dispatch: Dispatch) -> None:
    exit_code, said = dispatch(Slugs.IPERF_MATRIX, HAS_NO_TOOLS, params='{"duration_s": 1}')

    assert exit_code == 2, said
    assert "n2: iperf3 is not installed" in said


@pytest.mark.slow
def test_a_training_over_four_nodes_passes_and_names_its_slowest(dispatch: Dispatch) -> None:
    exit_code, said = dispatch(Slugs.DISTRIBUTED_TRAINING_CPU, params='{"duration_s": 1}')

    assert exit_code == 0, said
    assert "PASSED: Ranks that ended with other weights 0, allows at most 0" in said
    assert re.search(r"Slowest rank to median .*\[n[1-4] \d", said)


@pytest.mark.slow
def test_a_wrong_sum_on_one_node_fails_the_training_and_names_the_node(
    dispatch: Dispatch,
) -> None:
    what = Slugs.DISTRIBUTED_TRAINING_CPU
    exit_code, said = dispatch(what, FLIPS_A_VALUE, params='{"duration_s": 1}')

    assert exit_code == 1, said
    assert "FAILED (hardware): Ranks that ended with other weights 1, allows at most 0" in said
    assert "(n2, first in round 1)" in said


@pytest.mark.slow
def test_a_node_without_numpy_is_errored_and_named(dispatch: Dispatch) -> None:
    what = Slugs.DISTRIBUTED_TRAINING_CPU
    exit_code, said = dispatch(what, HAS_NO_NUMPY, params='{"duration_s": 1}')

    assert exit_code == 2, said
    assert "n2: numpy is not installed, /usr/bin/python3 cannot import it" in said


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    directory = tmp_path / "shared"
    directory.mkdir()
    return directory


def on(scratch: Path) -> str:
    return json.dumps({"path": str(scratch), "duration_s": 1})


@pytest.mark.slow
def test_four_nodes_read_what_the_others_wrote_and_leave_nothing(
    dispatch: Dispatch, scratch: Path
) -> None:
    exit_code, said = dispatch(Slugs.PARALLEL_STORAGE, params=on(scratch))

    assert exit_code == 0, said
    assert "PASSED: Wrong data and I/O errors 0, allows at most 0" in said
    assert list(scratch.iterdir()) == []


@pytest.mark.slow
def test_a_block_that_changed_fails_and_names_reader_and_writer(
    dispatch: Dispatch, scratch: Path, tmp_path: Path
) -> None:
    tools = corrupting_fio(tmp_path / "tools", scratch=scratch)

    exit_code, said = dispatch(Slugs.PARALLEL_STORAGE, params=on(scratch), tools=tools)

    assert exit_code == 1, said
    assert "FAILED (hardware): Wrong data and I/O errors 1, allows at most 0" in said
    assert "verify: n1 met error 84, data came back changed, in what n2 wrote: crc32c:" in said
    assert list(scratch.iterdir()) == []


@pytest.mark.slow
def test_a_node_without_fio_is_errored_and_named(dispatch: Dispatch, scratch: Path) -> None:
    exit_code, said = dispatch(Slugs.PARALLEL_STORAGE, HAS_NO_TOOLS, params=on(scratch))

    assert exit_code == 2, said
    assert "ERRORED (test): fio's servers did not start: n2: fio is not installed" in said
    assert list(scratch.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("slug", [Slugs.PAIR_NET_BANDWIDTH, Slugs.PAIR_NET_LATENCY])
def test_any_pair_without_rdma_is_measured_over_mpi(dispatch: Dispatch, slug: str) -> None:
    exit_code, said = dispatch(slug, nodes=ANY_TWO)

    assert exit_code == 0, said
    assert "[no active RDMA port; MPICH" in said


@pytest.mark.slow
@pytest.mark.parametrize("slug", [Slugs.PAIR_NET_BANDWIDTH, Slugs.PAIR_NET_LATENCY])
def test_a_value_that_changes_between_a_pair_fails_and_names_the_node(
    dispatch: Dispatch, slug: str
) -> None:
    exit_code, said = dispatch(slug, RECEIVES_WRONG, nodes=PAIR)

    assert exit_code == 1, said
    assert re.search(
        r"FAILED \(hardware\): Wrong values \d+, allows at most 0 \(n2: \d+ values", said
    )


@pytest.mark.slow
@pytest.mark.parametrize("slug", [Slugs.PAIR_NET_BANDWIDTH, Slugs.PAIR_NET_LATENCY])
def test_a_pair_of_which_one_has_no_mpi_is_errored_and_named(dispatch: Dispatch, slug: str) -> None:
    exit_code, said = dispatch(slug, HAS_NO_MPI, nodes=PAIR)

    assert exit_code == 2, said
    assert "n2: no MPI library of MPICH's kind" in said
