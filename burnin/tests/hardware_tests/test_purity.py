"""`extract_metrics` reads artifacts and does nothing else."""

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from burnin.hardware_tests.artifacts import ArtifactCollector
from burnin.tests.hardware_tests.purity import Impure, pure
from burnin.tests.hardware_tests.toy import Toy


def test_extraction_reads_under_the_guard(attempt: ArtifactCollector) -> None:
    with pure():
        metrics = Toy().extract_metrics(attempt)

    assert metrics.responded == 1


REACHING_OUT: dict[str, Callable[[Path], object]] = {
    "a socket": lambda _: socket.create_connection(("127.0.0.1", 9)),
    "a name": lambda _: socket.getaddrinfo("localhost", 80),
    "a process": lambda _: subprocess.run([sys.executable, "-c", ""], check=True),
    "a shell": lambda _: os.system("true"),
    "a fork": lambda _: os.fork(),
    "a write": lambda path: path.write_text("x"),
    "an append": lambda path: path.open("a"),
    "an update": lambda path: path.open("r+"),
    "a raw write": lambda path: os.open(path, os.O_WRONLY),
    "a removal": lambda path: path.unlink(),
    "a directory": lambda path: (path.parent / "new").mkdir(),
    "a temporary file": lambda _: tempfile.mkstemp(),
    "the environment": lambda _: os.environ.update(BURNIN_TEST="1"),
}


@pytest.mark.parametrize("reach_out", REACHING_OUT.values(), ids=REACHING_OUT)
def test_reaching_out_is_denied(tmp_path: Path, reach_out: Callable[[Path], object]) -> None:
    path = tmp_path / "file"
    path.write_text("before")

    with pytest.raises(Impure), pure():
        reach_out(path)

    assert path.read_text() == "before"


def test_outside_the_guard_everything_works_again(tmp_path: Path) -> None:
    with pure():
        pass

    assert (tmp_path / "file").write_text("x") == 1
