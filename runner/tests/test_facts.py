"""Who and what the nodes are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from runner.endings import CannotRun
from runner.facts import facts_line, gpu_uuids, job_facts, node_facts, root_of
from runner.tests.given import workspace_in, write_tool


def machine_below(root: Path) -> Path:
    """Write the files of a machine that is not this one."""
    files = {
        "proc/sys/kernel/hostname": "gpu-17\n",
        "proc/sys/kernel/osrelease": "6.1.0\n",
        "proc/meminfo": "MemTotal:       1048576 kB\nMemAvailable:    524288 kB\n",
        "sys/devices/system/cpu/online": "0-3,8,10-11\n",
        "etc/machine-id": "abc123\n",
        "sys/class/dmi/id/product_serial": "SN-1\n",
        "proc/driver/nvidia/gpus/0000:01:00.0/information": "Model: X\nGPU UUID: \t GPU-aa\n",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def test_facts_are_read_below_the_root(tmp_path: Path) -> None:
    facts = node_facts(machine_below(tmp_path), "n17")

    assert facts == {
        "node_name": "n17",
        "hostname": "gpu-17",
        "kernel": "6.1.0",
        "cpu_count": 7,
        "memory_bytes": 1 << 30,
        "machine_id": "abc123",
        "dmi_serial": "SN-1",
        "gpu_uuids": ["GPU-aa"],
    }


def test_what_cannot_be_read_is_unknown_and_not_guessed(tmp_path: Path) -> None:
    facts = node_facts(tmp_path, "n1")

    unknown = ("cpu_count", "memory_bytes", "machine_id", "dmi_serial")
    assert [facts[name] for name in unknown] == [None] * 4
    assert gpu_uuids(tmp_path) == []


def test_garbage_is_unknown(tmp_path: Path) -> None:
    machine_below(tmp_path)
    (tmp_path / "sys/devices/system/cpu/online").write_text("all of them\n")
    (tmp_path / "proc/meminfo").write_text("MemTotal: plenty\n")

    facts = node_facts(tmp_path, "n1")

    assert (facts["cpu_count"], facts["memory_bytes"]) == (None, None)


def test_the_root_may_name_the_node() -> None:
    assert root_of("/roots/%N/", "n3") == Path("/roots/n3")


def test_a_line_says_the_place_in_the_job(tmp_path: Path) -> None:
    machine_below(tmp_path / "n2")

    line = facts_line({"SLURMD_NODENAME": "n2", "SLURM_NODEID": "1"}, f"{tmp_path}/%N")

    assert json.loads(line)["rank"] == 1
    assert json.loads(line)["hostname"] == "gpu-17"


def fake_srun(directory: Path, *lines: str) -> Path:
    said = "\n".join(f"echo '{line}'" for line in lines)
    return write_tool(directory / "bin", "srun", f'echo "$@" > {directory}/asked\n{said}')


def test_one_srun_asks_every_node_and_slurms_order_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    srun = fake_srun(
        tmp_path, '{"rank": 1, "node_name": "n2"}', "a banner", '{"rank": 0, "node_name": "n1"}'
    )
    monkeypatch.setenv("PATH", str(srun.parent), prepend=":")
    workspace = workspace_in(tmp_path)

    facts = job_facts(workspace, facts_root="/r/%N", num_nodes=2, this_program=["python3", "b.pyz"])
    workspace.close()

    assert facts == [{"node_name": "n1"}, {"node_name": "n2"}]
    assert (tmp_path / "asked").read_text().split() == [
        *("--nodes=2", "--ntasks=2", "--ntasks-per-node=1"),
        *("python3", "b.pyz", "facts", "--json", "--facts-root", "/r/%N"),
    ]


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        (['{"rank": 0, "node_name": "n1"}'], r"facts came from 1 of 2 nodes \(n1\)"),
        ([], r"facts came from 0 of 2 nodes \(none\)"),
        (['{"rank": 0, "node_', '{"rank": 1, "node_name": "n2"}'], "came back torn"),
    ],
)
def test_a_node_that_does_not_answer_stops_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: list[str], sentence: str
) -> None:
    srun = fake_srun(tmp_path, *lines)
    monkeypatch.setenv("PATH", str(srun.parent), prepend=":")
    workspace = workspace_in(tmp_path)

    with pytest.raises(CannotRun, match=sentence):
        job_facts(workspace, facts_root="/", num_nodes=2, this_program=["python3"])
    workspace.close()
