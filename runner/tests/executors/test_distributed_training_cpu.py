"""The training on stand-ins for srun, and its arithmetic on a stand-in for MPI."""

from __future__ import annotations

import json
import subprocess
from array import array
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from runner.contract.slugs import Slugs
from runner.contract.wire import ExitCode
from runner.endings import CannotRun
from runner.executors import distributed_training_cpu
from runner.tests.executors.test_mpi_collective import FACTS
from runner.tests.given import (
    REPOSITORY,
    context_told,
    metadata_of,
    run_attempt,
    workspace_in,
    write_tool,
)
from runner.workers import node_numpy, training
from runner.workers.training import Training, is_falling, late, median


def run(tmp_path: Path, srun: str) -> tuple[int, dict[str, Any]]:
    write_tool(tmp_path / "bin", "srun", FACTS + srun)
    told = context_told(
        slug=Slugs.DISTRIBUTED_TRAINING_CPU,
        num_nodes=2,
        node_names=["n1", "n2"],
        params={"duration_s": 7},
    )
    done = run_attempt(tmp_path / "a", told, tools=tmp_path / "bin")
    return done.returncode, metadata_of(tmp_path / "a")


def test_one_rank_a_node_trains_as_long_as_asked(tmp_path: Path) -> None:
    srun = 'for word; do case $word in report=*) echo "{}" > "${word#report=}";; esac; done; exit 1'

    code, _ = run(tmp_path, srun)

    asked = (tmp_path / "bin/asked").read_text().split()
    assert code == ExitCode.RAN
    assert asked[:5] == [
        *("--nodes=2", "--ntasks=2", "--ntasks-per-node=1", "--kill-on-bad-exit=1", "--mpi=pmi2")
    ]
    assert asked[-4:-1] == ["work", "training", "duration_s=7"]


def test_a_node_without_numpy_is_named(tmp_path: Path) -> None:
    code, said = run(tmp_path, 'echo "n2: numpy is not installed, …" >&2; exit 4')

    assert code == ExitCode.CANNOT_RUN
    assert said["reason"] == "the training left no report (exit 4): n2: numpy is not installed, …"


def test_ranks_that_hang_are_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distributed_training_cpu, "SETTLE_S", 0.1)
    monkeypatch.setenv("PATH", f"{write_tool(tmp_path / 'bin', 'srun', 'sleep 60').parent}:/bin")
    (tmp_path / "a").mkdir()
    told = context_told(num_nodes=2, params={"duration_s": 0})
    context: Any = SimpleNamespace(**told)
    workspace = workspace_in(tmp_path / "a")

    with closing(workspace), pytest.raises(CannotRun, match="the training hung and was ended"):
        distributed_training_cpu.TrainingCpu().execute(context, workspace)


def test_a_python_without_numpy_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(name: str) -> None:
        raise ImportError(f"No module named {name!r}")

    monkeypatch.setattr(node_numpy, "import_module", missing)

    assert training.main(["duration_s=1", "report=/nowhere"]) == node_numpy.NO_NUMPY
    assert "numpy is not installed, " in capsys.readouterr().err


class OneRank:
    """MPI with one rank; `wrong` is added to one value of a sum."""

    rank, size = 0, 1

    def __init__(self, wrong: float = 0.0, others: tuple[str, ...] = ()) -> None:
        self._wrong, self._others = wrong, others

    def barrier(self) -> None:
        pass

    def all_reduce(self, given: array[float], taken: array[float]) -> None:
        taken[:] = given
        taken[-1] += self._wrong

    def longest(self, seconds: float) -> float:
        return seconds

    def gather_text(self, text: str) -> list[str]:
        return [text, *self._others]


class Falling:
    """A network whose loss falls by one with every step; MPI may add to it."""

    flop = 1

    def __init__(self, start: float = 30.0) -> None:
        self.given, self.taken, self._start = array("d", [0.0]), array("d", [0.0]), start

    def agree_on_weights(self, mpi: object) -> None:
        pass

    def reset(self) -> None:
        self.given[0] = self._start

    def compute_gradient(self) -> None:
        self.given[0] -= 1.0

    def apply(self, ranks: int) -> float:
        return self.taken[0] / ranks

    def checksum(self) -> str:
        return "aa"


def trained(ranks: OneRank, network: Falling) -> dict[str, Any]:
    run = Training(ranks, network, "n1")
    run.run(0.0)
    ranks._others = ()
    report: dict[str, Any] = json.loads(json.dumps(run.report(), allow_nan=False))
    return report


def test_a_good_round_leaves_nothing_to_look_at() -> None:
    report = trained(OneRank(), Falling())

    assert report["rounds"] == 1
    assert report["losses"][0] == 29.0
    assert report["unequal"] == report["risen"] == []


def test_a_rank_with_another_checksum_is_kept() -> None:
    report = trained(OneRank(others=("bb",)), Falling())

    assert report["unequal"] == [{"round": 1, "checksums": ["aa", "bb"]}]


def test_a_loss_that_is_no_number_is_kept_as_none() -> None:
    report = trained(OneRank(wrong=float("nan")), Falling())

    assert report["risen"] == [{"round": 1, "losses": [None] * training.STEPS}]


def test_a_loss_stands_still_or_is_no_number_and_does_not_fall() -> None:
    assert is_falling([3.0, 2.0, 1.0])
    assert not is_falling([3.0, 1.0, 3.0])
    assert not is_falling([3.0, float("nan"), 1.0])


def test_median_and_p99_are_of_all_steps() -> None:
    times = array("d", [float(number) for number in range(200, 0, -1)])

    assert (median(times), late(times)) == (101.0, 198.0)


GRADIENT = """
from runner.workers import network, node_numpy
numpy = node_numpy.numpy_of_node()
network.BATCH, network.INPUTS, network.HIDDEN, network.OUTPUTS = 5, 4, 6, 3
network.FIRST, network.SECOND = 24, 18
net = network.Network(numpy, 0)

def loss(moved=None, by=0.0):
    net.reset()
    if moved is not None:
        net._weights[moved] += by
    net.compute_gradient()
    return net.given[-1]

loss()
gradient = list(net.given[:-1])
measured = [(loss(at, 1e-6) - loss(at, -1e-6)) / 2e-6 for at in range(42)]
assert numpy.allclose(gradient, measured, rtol=1e-4, atol=1e-8), (gradient, measured)
loss()
net.taken[:] = net.given
assert net.apply(1) == net.given[-1]
assert numpy.allclose(net._weights, numpy.frombuffer(net._start) - 0.05 * numpy.array(gradient))
"""


def test_the_gradient_is_that_of_the_loss_and_the_weights_move_against_it() -> None:
    # numpy is the node's: Debian's python3-numpy, which the virtual environment does not see.
    done = subprocess.run(
        ["/usr/bin/python3", "-S", "-c", GRADIENT],
        env={"PYTHONPATH": str(REPOSITORY), "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )

    assert done.returncode == 0, done.stderr
