"""Commands, their output, and what is left of them."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from runner.contract.artifacts import MAX_BYTES, STDERR, STDOUT
from runner.endings import CannotRun
from runner.process import CommandResult
from runner.tests.given import is_gone, longer_and_longer, workspace_in, write_tool
from runner.workspace import WorkspaceManager


def run_out_of_time(workspace: WorkspaceManager, tool: Path) -> CommandResult:
    """Run a tool that never ends until its time is up, which came after its first word."""
    for timeout_s in longer_and_longer(0.3):
        done = workspace.run_command([tool], timeout_s=timeout_s)
        if done.stdout_tail:
            return done
    raise AssertionError(f"{tool} never said a word")


def test_a_command_leaves_both_streams_and_its_exit_code(tmp_path: Path) -> None:
    workspace = workspace_in(tmp_path)

    done = workspace.run_command(["sh", "-c", "echo out; echo err >&2; exit 3"])
    workspace.close()

    assert (done.exit_code, done.stdout_tail, done.stderr_tail) == (3, "out", "err")
    assert not done.timed_out
    assert (tmp_path / STDOUT).read_text() == "out\n"
    assert (tmp_path / STDERR).read_text() == "err\n"


def test_a_signal_is_a_negative_exit_code(tmp_path: Path) -> None:
    workspace = workspace_in(tmp_path)

    done = workspace.run_command(["sh", "-c", "kill -9 $$"])
    workspace.close()

    assert done.exit_code == -9


def test_a_missing_tool_is_named_with_its_node_and_path(tmp_path: Path) -> None:
    workspace = workspace_in(tmp_path)

    with pytest.raises(CannotRun) as error:
        workspace.run_command(["fio", "--version"], env={"PATH": "/nowhere"})
    workspace.close()

    assert str(error.value) == "fio is not installed on node n1: not found in PATH=/nowhere"


def test_a_tool_that_is_no_program_cannot_run(tmp_path: Path) -> None:
    tool = tmp_path / "tool"
    tool.write_bytes(b"\x00\x01garbage")
    tool.chmod(0o755)
    workspace = workspace_in(tmp_path)

    with pytest.raises(CannotRun, match="could not be started: Exec format error"):
        workspace.run_command([tool])
    workspace.close()


def test_a_time_out_ends_the_whole_group(tmp_path: Path) -> None:
    tool = write_tool(tmp_path, "tool", "sleep 1000 & echo $!; wait")
    workspace = workspace_in(tmp_path)

    done = run_out_of_time(workspace, tool)
    workspace.close()

    assert done.timed_out
    assert done.exit_code == -15
    assert is_gone(int(done.stdout_tail))


def test_a_tool_that_ignores_term_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runner.process.GRACE_S", 0.2)
    tool = write_tool(tmp_path, "tool", "trap '' TERM; echo $$; while :; do sleep 0.05; done")
    workspace = workspace_in(tmp_path)

    done = run_out_of_time(workspace, tool)
    workspace.close()

    assert done.exit_code == -9
    assert is_gone(int(done.stdout_tail))


def test_a_grandchild_that_keeps_the_pipe_open_neither_hangs_us_nor_lives_on(
    tmp_path: Path,
) -> None:
    tool = write_tool(tmp_path, "tool", "sleep 1000 & echo $!")
    workspace = workspace_in(tmp_path)

    done = workspace.run_command([tool], timeout_s=60)
    workspace.close()

    assert (done.exit_code, done.timed_out) == (0, False)
    assert is_gone(int(done.stdout_tail))


def test_a_grandchild_that_left_the_group_does_not_hang_us(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    leaves = f"setsid sh -c 'echo $$ > {pid}; exec sleep 1000' &"
    tool = write_tool(tmp_path, "tool", f"{leaves}\nwhile [ ! -s {pid} ]; do sleep 0.02; done")
    workspace = workspace_in(tmp_path)

    done = workspace.run_command([tool], timeout_s=60)
    workspace.close()

    os.kill(int(pid.read_text()), signal.SIGKILL)
    assert (done.exit_code, done.timed_out) == (0, False)


def test_a_babbler_fills_neither_disk_nor_memory(tmp_path: Path) -> None:
    workspace = workspace_in(tmp_path)
    capture = workspace.get_custom_artifact_path("raw.txt")

    workspace.run_command(["head", "-c", "200000000", "/dev/zero"], capture_to=capture)
    workspace.run_command(["echo", "last words"])
    workspace.close()

    assert (tmp_path / STDOUT).stat().st_size <= MAX_BYTES[STDOUT]
    assert (tmp_path / STDOUT).read_bytes().endswith(b"last words\n")
    assert b"bytes dropped here" in (tmp_path / STDOUT).read_bytes()
    assert capture.stat().st_size <= MAX_BYTES[STDOUT]
    assert workspace.truncated == {STDOUT, "results/raw.txt"}


def test_a_command_reads_nothing_and_gets_env_and_cwd(tmp_path: Path) -> None:
    workspace = workspace_in(tmp_path)
    here = Path.cwd()

    done = workspace.run_command(
        ["sh", "-c", "cat; echo $COLOUR $LC_ALL $(pwd)"], env={"COLOUR": "red"}, cwd=tmp_path
    )
    workspace.close()

    assert done.stdout_tail == f"red C {tmp_path}"
    assert Path.cwd() == here


def test_output_is_progress(tmp_path: Path) -> None:
    workspace = workspace_in(tmp_path)
    workspace.last_progress_at = 0.0

    workspace.run_command(["echo", "alive"])
    workspace.close()

    assert workspace.last_progress_at > 0


def test_a_sampler_lasts_as_long_as_its_with(tmp_path: Path) -> None:
    tool = write_tool(tmp_path, "sampler", "echo $$; echo noise >&2; sleep 1000")
    workspace = workspace_in(tmp_path)
    samples = workspace.get_custom_artifact_path("samples.txt")

    with workspace.start_command([tool], capture_to=samples):
        workspace.run_command(
            ["sh", "-c", "until grep -q noise $0; do sleep 0.02; done", samples], timeout_s=20
        )
    workspace.close()

    pid = int(samples.read_text().split()[0])
    assert is_gone(pid)
    assert [command.argv[0] for command in workspace.commands] == ["sh", str(tool)]


def test_closing_ends_a_sampler_that_was_forgotten(tmp_path: Path) -> None:
    tool = write_tool(tmp_path, "sampler", "sleep 1000")
    workspace = workspace_in(tmp_path)
    sampler = workspace.start_command([tool], capture_to=tmp_path / "results/samples.txt")

    sampler.__enter__()
    workspace.close()

    assert [command.exit_code for command in workspace.commands] == [-15]


def test_a_missing_sampler_cannot_run(tmp_path: Path) -> None:
    workspace = workspace_in(tmp_path)
    samples = workspace.get_custom_artifact_path("samples.txt")

    with (
        pytest.raises(CannotRun, match="no-such-tool is not installed"),
        workspace.start_command(["no-such-tool"], capture_to=samples),
    ):
        pass
    workspace.close()


@pytest.mark.parametrize("name", ["../out", "/etc/out", "a/../../out", "", "."])
def test_a_custom_artifact_cannot_lie_outside_results(tmp_path: Path, name: str) -> None:
    workspace = workspace_in(tmp_path)

    with pytest.raises(ValueError, match="outside results/"):
        workspace.get_custom_artifact_path(name)
    workspace.close()


def test_a_written_file_is_a_custom_artifact(tmp_path: Path) -> None:
    workspace = workspace_in(tmp_path)

    path = workspace.write_file("jobs/one.fio", "[one]\n")
    workspace.close()

    assert path == tmp_path / "results/jobs/one.fio"
    assert path.read_text() == "[one]\n"
