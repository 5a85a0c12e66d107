"""MPI collectives on stand-ins for srun, and the arithmetic that every rank checks itself by."""

from __future__ import annotations

from array import array
from pathlib import Path
from typing import Any

import pytest

from runner.contract.slugs import Slugs
from runner.contract.wire import ExitCode
from runner.tests.given import context_told, metadata_of, run_attempt, write_tool
from runner.workers import mpi_collective
from runner.workers.mpi import LIBRARIES, Mpi, NoMpi
from runner.workers.mpi_collective import _buffers
from runner.workers.values import count_wrong

OPERATIONS = {
    Slugs.MPI_ALL_REDUCE: "all-reduce",
    Slugs.MPI_ALL_GATHER: "all-gather",
    Slugs.MPI_ALL_TO_ALL: "all-to-all",
}
FACTS = r"""case "$*" in
*facts*) echo '{"rank": 0, "node_name": "n1"}'; echo '{"rank": 1, "node_name": "n2"}'; exit 0;;
esac
echo "$@" > "$(dirname "$0")/asked"
"""


def run(tmp_path: Path, slug: str, srun: str) -> tuple[int, dict[str, Any]]:
    write_tool(tmp_path / "bin", "srun", FACTS + srun)
    told = context_told(slug=slug, num_nodes=2, node_names=["n1", "n2"])
    done = run_attempt(tmp_path / "a", told, tools=tmp_path / "bin")
    return done.returncode, metadata_of(tmp_path / "a")


@pytest.mark.parametrize(("slug", "operation"), OPERATIONS.items())
def test_one_rank_a_node_is_started_through_pmi2(tmp_path: Path, slug: str, operation: str) -> None:
    srun = 'for word; do case $word in report=*) echo "{}" > "${word#report=}";; esac; done'

    code, _ = run(tmp_path, slug, srun)

    asked = (tmp_path / "bin/asked").read_text().split()
    assert code == ExitCode.RAN
    assert asked[:5] == [
        *("--nodes=2", "--ntasks=2", "--ntasks-per-node=1", "--kill-on-bad-exit=1", "--mpi=pmi2")
    ]
    assert f"op={operation}" in asked


def test_without_a_report_the_first_word_of_a_rank_is_what_counts(tmp_path: Path) -> None:
    srun = """echo "n2: no MPI library" >&2
echo "srun: error: n2: task 1: Exited with exit code 3" >&2
exit 143"""

    code, said = run(tmp_path, Slugs.MPI_ALL_REDUCE, srun)

    assert code == ExitCode.CANNOT_RUN
    assert said["reason"] == "all-reduce left no report (exit 143): n2: no MPI library"


def test_a_silent_srun_is_named_all_the_same(tmp_path: Path) -> None:
    code, said = run(tmp_path, Slugs.MPI_ALL_GATHER, "exit 1")

    assert code == ExitCode.CANNOT_RUN
    assert said["reason"] == "all-gather left no report (exit 1): it said nothing"


class Ranks:
    """All ranks of a collective in one process, as MPI defines its results."""

    def __init__(self, size: int) -> None:
        self.size, self.rank = size, 0

    def given_by_all(self, operation: str, share: int) -> list[array[float]]:
        return [_buffers(self.of(rank), operation, share)[0] for rank in range(self.size)]

    def of(self, rank: int) -> Mpi:
        self.rank = rank
        return self  # type: ignore[return-value]


@pytest.mark.parametrize("size", [2, 3, 5])
@pytest.mark.parametrize("operation", OPERATIONS.values())
def test_what_must_arrive_is_what_the_collective_is_defined_to_give(
    operation: str, size: int
) -> None:
    ranks, share = Ranks(size), 11
    given = ranks.given_by_all(operation, share)

    for rank in range(size):
        if operation == "all-reduce":
            arrives = array("d", [sum(values) for values in zip(*given, strict=True)])
        elif operation == "all-gather":
            arrives = array("d", [value for each in given for value in each])
        else:
            arrives = array(
                "d",
                [value for each in given for value in each[rank * share : (rank + 1) * share]],
            )
        _, _, expected = _buffers(ranks.of(rank), operation, share)
        assert count_wrong(arrives, expected) == 0
        arrives[5] += 1
        assert count_wrong(arrives, expected) == 1


def test_values_that_are_no_numbers_are_wrong() -> None:
    assert count_wrong(array("d", [1.0, float("nan")]), array("d", [1.0, 2.0])) == 1


def test_a_host_without_mpi_says_what_it_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runner.workers.mpi.LIBRARIES", ("libno-such-mpi.so.1",))

    with pytest.raises(NoMpi, match=r"none of libno-such-mpi.so.1 can be loaded"):
        Mpi()
    assert mpi_collective.main(["op=all-reduce", "report=/nowhere"]) == 3
    assert "libmpich.so.12" in LIBRARIES
