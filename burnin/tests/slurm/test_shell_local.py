"""Commands on this machine."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from burnin.slurm.cluster import ClusterUnreachable, NoSlurm
from burnin.slurm.shell import LocalShell, quoted
from deploy.cluster import processes

BIG = b"x" * (5 << 20)
ECHO_BOTH = (
    "import sys; data = sys.stdin.buffer.read();"
    "sys.stdout.buffer.write(data); sys.stderr.buffer.write(data)"
)


def test_five_megabytes_pass_each_way() -> None:
    done = LocalShell({}).run([sys.executable, "-c", ECHO_BOTH], BIG, timeout_s=30)

    assert (done.exit_code, done.stdout, done.stderr) == (0, BIG, BIG)


def test_the_environment_is_added_to_our_own() -> None:
    done = LocalShell({"SLURM_CONF": "/some/where"}).run(["env"], timeout_s=10)

    assert b"SLURM_CONF=/some/where\n" in done.stdout
    assert f"PATH={os.environ['PATH']}\n".encode() in done.stdout


def test_a_command_that_hangs_is_ended_with_all_its_children(tmp_path: Path) -> None:
    child = tmp_path / "child"
    script = f"sleep 1000 & echo $! > {child}; wait"

    for timeout_s in (1, 10, 60):
        with pytest.raises(ClusterUnreachable, match=f"did not end within {timeout_s} s"):
            LocalShell({}).run(["bash", "-c", script], timeout_s=timeout_s)
        if child.exists() and child.read_text():
            break

    pid = int(child.read_text())
    assert processes.wait_until(lambda: not processes.is_alive(pid), timeout_s=30)


def test_a_machine_without_the_command_has_no_slurm() -> None:
    with pytest.raises(NoSlurm, match="squeue-of-nowhere is not in PATH"):
        LocalShell({}).run(["squeue-of-nowhere"], timeout_s=5)


def test_words_with_spaces_and_quotes_survive_a_remote_shell() -> None:
    line = quoted(["printf", "%s\n", "it's $HOME; `id`"], {"A": "b c"})

    done = LocalShell({}).run(["bash", "-c", line], timeout_s=10)

    assert done.stdout == b"it's $HOME; `id`\n"
