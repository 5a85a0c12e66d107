"""Whole runs, each a process of its own, as a node sees them."""

from __future__ import annotations

import hashlib
import json
import signal
import subprocess
import tarfile
import time
from pathlib import Path
from typing import Any

import pytest

from runner.contract.slugs import Slugs
from runner.contract.wire import ExitCode
from runner.tests.given import (
    RUN_ID,
    context_told,
    environment_of_node,
    is_gone,
    longer_and_longer,
    metadata_of,
    run_attempt,
    runner_command,
    write_tool,
)
from runner.tests.store import serving

JOB = {"SLURM_JOB_ID": "42", "SLURM_JOB_NODELIST": "n1", "SLURMD_NODENAME": "n1"}
MEMORY = {"SLURM_MEM_PER_NODE": "50", "SLURM_CPUS_ON_NODE": "1"}


def stress_told(**changes: Any) -> dict[str, Any]:
    """Return a run whose workload is whatever `stressapptest` the test puts into PATH."""
    return context_told(slug=Slugs.MEMORY_STRESS, params={"duration_s": 5}, **changes)


def write_stress(tools: Path, script: str) -> None:
    write_tool(tools, "stressapptest", f'[ "$1" = --help ] && exit\n{script}')


def test_a_run_leaves_everything_the_hub_collects(tmp_path: Path) -> None:
    done = run_attempt(tmp_path, context_told(node_names=["n1"]), env=JOB)

    metadata = metadata_of(tmp_path)
    assert done.returncode == ExitCode.RAN, done.stderr
    assert (metadata["run_id"], metadata["attempt"]) == (RUN_ID, 1)
    assert (metadata["outcome"], metadata["reason"]) == ("ran", "")
    assert metadata["node_names"] == ["n1"]
    assert metadata["slurm"] == {"job_id": "42", "restart_count": 0, "node_list": "n1"}
    assert metadata["facts"][0]["node_name"] == "n1"
    assert metadata["started_at"] <= metadata["last_progress_at"] <= metadata["finished_at"]
    assert [each["outcome"] for each in metadata["iterations"]] == ["ran"]


def test_sizes_and_digests_are_those_of_the_files(tmp_path: Path) -> None:
    run_attempt(tmp_path, context_told())

    artifacts = metadata_of(tmp_path)["artifacts"]
    names = ["custom-artifacts.tar.gz", "started.json", "stderr.txt", "stdout.txt"]
    assert sorted(artifacts) == names
    for name in names:
        data = (tmp_path / name).read_bytes()
        assert artifacts[name]["size_bytes"] == len(data)
        assert artifacts[name]["sha256"] == hashlib.sha256(data).hexdigest()


def test_nobody_else_may_read_the_workspace(tmp_path: Path) -> None:
    run_attempt(tmp_path / "attempt", context_told())

    assert (tmp_path / "attempt").stat().st_mode & 0o077 == 0
    assert (tmp_path / "attempt/stdout.txt").stat().st_mode & 0o077 == 0


def test_a_second_start_changes_nothing(tmp_path: Path) -> None:
    run_attempt(tmp_path, context_told())
    before = (tmp_path / "metadata.json").read_bytes()

    again = run_attempt(tmp_path, context_told())

    assert again.returncode == ExitCode.ALREADY_CLAIMED
    assert "already claimed by" in again.stderr
    assert (tmp_path / "metadata.json").read_bytes() == before


@pytest.mark.parametrize("count", ["1", "2", "?"])
def test_a_requeued_start_does_nothing(tmp_path: Path, count: str) -> None:
    done = run_attempt(tmp_path, context_told(), env={**JOB, "SLURM_RESTART_COUNT": count})

    assert done.returncode == ExitCode.REQUEUED
    assert list(tmp_path.iterdir()) == []


def test_a_bad_context_leaves_one_sentence_and_no_file(tmp_path: Path) -> None:
    done = run_attempt(tmp_path / "attempt", context_told(attempt="one"))

    assert done.returncode == ExitCode.BAD_CONTEXT
    assert done.stderr == "runner: the context's 'attempt' is str, not int\n"
    assert not (tmp_path / "attempt").exists()


def test_another_node_than_asked_for_is_not_measured(tmp_path: Path) -> None:
    done = run_attempt(tmp_path, context_told(node_names=["n9"]), env=JOB)

    assert done.returncode == ExitCode.CANNOT_RUN
    assert metadata_of(tmp_path)["reason"] == "Slurm gave n1, but n9 was asked for"


def test_a_missing_tool_is_told_and_still_handed_over(tmp_path: Path) -> None:
    told = context_told(
        slug=Slugs.STORAGE,
        params={"target": "directory", "path": str(tmp_path), "duration_s": 1},
    )

    done = run_attempt(tmp_path / "attempt", told, env={"PATH": "/nowhere"})

    metadata = metadata_of(tmp_path / "attempt")
    assert done.returncode == ExitCode.CANNOT_RUN
    assert metadata["outcome"] == "cannot_run"
    assert metadata["reason"].startswith("fio is not installed on node ")
    assert metadata["reason"].endswith("not found in PATH=/nowhere")
    assert "custom-artifacts.tar.gz" in metadata["artifacts"]


def test_our_own_deadline_ends_the_workload_and_hands_over(tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    write_stress(tools, f"echo $$ > {tmp_path}/pid; echo working; sleep 1000")

    for limit_s in longer_and_longer(4):
        workspace = tmp_path / f"a{limit_s:.0f}"
        told = stress_told(time_limit_s=int(limit_s))
        done = run_attempt(workspace, told, tools=tools, env=MEMORY)
        if (workspace / "stdout.txt").read_text():
            break

    metadata = metadata_of(workspace)
    assert done.returncode == ExitCode.TIMED_OUT
    assert metadata["outcome"] == "timed_out"
    assert f"before the job's limit of {limit_s:.0f} s" in metadata["reason"]
    assert metadata["iterations"][0]["outcome"] == "timed_out"
    assert metadata["finished_at"] - metadata["started_at"] < limit_s
    assert (workspace / "stdout.txt").read_text() == "working\n"
    assert is_gone(int((tmp_path / "pid").read_text()))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_workload_and_hands_over(tmp_path: Path, number: signal.Signals) -> None:
    tools = tmp_path / "bin"
    write_stress(tools, f"echo $$ > {tmp_path}/pid; exec sleep 100")
    command = runner_command(tmp_path / "a", stress_told())
    run = subprocess.Popen(
        command, env=environment_of_node(tools, **MEMORY), stderr=subprocess.PIPE, text=True
    )
    pid = wait_for(tmp_path / "pid")

    run.send_signal(number)
    said = run.communicate(timeout=30)[1]

    assert run.returncode == ExitCode.INTERRUPTED
    assert metadata_of(tmp_path / "a")["outcome"] == "interrupted"
    assert f"{number.name} ended the workload" in said
    assert is_gone(pid)


def test_a_crash_after_the_claim_never_leads_to_a_second_workload(tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    write_stress(tools, f"echo $$ >> {tmp_path}/pid; exec sleep 100")
    run = subprocess.Popen(
        runner_command(tmp_path / "a", stress_told()), env=environment_of_node(tools, **MEMORY)
    )
    pid = wait_for(tmp_path / "pid")
    run.kill()
    run.wait(timeout=10)

    again = run_attempt(tmp_path / "a", stress_told(), tools=tools, env=MEMORY)

    assert again.returncode == ExitCode.ALREADY_CLAIMED
    assert (tmp_path / "pid").read_text() == f"{pid}\n"
    assert not (tmp_path / "a/metadata.json").exists()
    subprocess.run(["kill", str(pid)], check=True)


def test_a_defect_is_told_with_its_own_exit_code(tmp_path: Path) -> None:
    told = context_told(slug=Slugs.MEMORY_STRESS, params={"duration_s": "soon"})

    done = run_attempt(tmp_path, told, env=MEMORY)

    metadata = metadata_of(tmp_path)
    assert done.returncode == ExitCode.INTERNAL
    assert metadata["outcome"] == "cannot_run"
    assert "the runner failed: ValueError" in metadata["reason"]
    assert "Traceback" in (tmp_path / "stderr.txt").read_text()


def test_every_iteration_has_its_place_and_its_checkpoints(tmp_path: Path) -> None:
    run_attempt(tmp_path, context_told(iterations=2))

    with tarfile.open(tmp_path / "custom-artifacts.tar.gz") as tar:
        assert tar.getnames() == ["iteration-1/hello.json", "iteration-2/hello.json"]
    lines = (tmp_path / "checkpoints.jsonl").read_text().splitlines()
    told = [(each["index"], each["outcome"]) for each in map(json.loads, lines)]
    assert told == [(1, "started"), (1, "ran"), (2, "started"), (2, "ran")]
    assert [each["index"] for each in metadata_of(tmp_path)["iterations"]] == [1, 2]


def test_artifacts_reach_the_store_started_first_and_metadata_last(tmp_path: Path) -> None:
    names = ["metadata.json", "custom-artifacts.tar.gz", "stdout.txt", "stderr.txt", "started.json"]

    with serving() as store:
        done = run_attempt(
            tmp_path, context_told(uploads={name: store.url_of(name) for name in names})
        )

        assert done.returncode == ExitCode.RAN, done.stderr
        order = ["started.json", "stdout.txt", "stderr.txt", names[1], "metadata.json"]
        assert list(store.bodies) == order
        assert store.bodies["metadata.json"] == (tmp_path / "metadata.json").read_bytes()


def test_started_json_is_in_the_store_before_the_workload(tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    write_stress(tools, f"touch {tmp_path}/begun; exec sleep 100")

    with serving() as store:
        uploads = {"started.json": store.url_of("started.json")}
        run = subprocess.Popen(
            runner_command(tmp_path / "a", stress_told(uploads=uploads)),
            env=environment_of_node(tools, **MEMORY),
            stderr=subprocess.DEVNULL,
        )
        wait_for(tmp_path / "begun")
        uploaded = dict(store.bodies)
        run.terminate()
        run.wait(timeout=30)

    assert json.loads(uploaded["started.json"])["run_id"] == RUN_ID


def test_what_the_store_refuses_stays_here_and_is_told_without_its_url(tmp_path: Path) -> None:
    with serving(403, 403) as store:
        uploads = {name: store.url_of(name) for name in ("stdout.txt", "metadata.json")}
        done = run_attempt(tmp_path, context_told(uploads=uploads))

    assert done.returncode == ExitCode.RAN
    assert "stdout.txt was not uploaded: the store answered 403 Forbidden" in done.stderr
    assert metadata_of(tmp_path)["spooled"] == ["stdout.txt"]
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"SECRET" not in written + done.stderr.encode()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "unknown command ''"),
        (["fly"], "unknown command 'fly'"),
        (["run", "single-node.nothing"], "no test 'single-node.nothing' in this bundle"),
        (["run", Slugs.HELLO_WORLD, "--workspace"], "--workspace needs a value"),
        (["run", Slugs.HELLO_WORLD, "--workspace", "w"], "--config-file is missing"),
        (["run", Slugs.HELLO_WORLD, "--fast"], "unknown option '--fast'"),
        (["run", Slugs.HELLO_WORLD, "--config-file", "/nowhere"], "the context /nowhere cannot be"),
    ],
)
def test_a_bad_command_line_gets_one_clear_sentence(
    tmp_path: Path, arguments: list[str], sentence: str
) -> None:
    command = runner_command(tmp_path, context_told())[:4]

    done = subprocess.run(
        [*command, *arguments],
        env=environment_of_node(),
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )

    assert done.returncode == ExitCode.BAD_CONTEXT
    assert sentence in done.stderr


def wait_for(path: Path) -> int:
    """Wait until a tool has written the file; return the number in it, or 0."""
    until = time.monotonic() + 30
    while not path.exists() or (path.suffix == "" and path.name == "pid" and not path.read_text()):
        if time.monotonic() > until:
            raise TimeoutError(path)
        time.sleep(0.02)
    return int(path.read_text() or 0)
