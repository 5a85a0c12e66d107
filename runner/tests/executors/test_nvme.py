"""Every NVMe drive: its health by smartctl or nvme-cli, its speed by fio, read-only."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from runner.context import parse_context
from runner.contract.slugs import Slugs
from runner.endings import CannotRun
from runner.executors import nvme
from runner.executors.nvme import RECIPE, Nvme, fio, found_below
from runner.tests.given import context_told, workspace_in, write_tool
from runner.workspace import WorkspaceManager

REPORTING_FIO = """for word; do
case $word in --output=*) echo '{"jobs":[]}' > "${word#--output=}";; esac
done"""


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[WorkspaceManager]:
    """A node of two drives, whose tools are those that a test writes into bin/."""
    for name in ("nvme0n1", "nvme1n1", "nvme1n1p1", "sda"):
        (tmp_path / "root/sys/block" / name / "device").mkdir(parents=True)
    (tmp_path / "root/sys/block/nvme0n1/device/model").write_text("P5520  \n")
    (tmp_path / "root/dev").mkdir()
    for name in ("nvme0n1", "nvme1n1"):
        (tmp_path / "root/dev" / name).write_text("")
    monkeypatch.setattr(stat, "S_ISBLK", lambda _mode: True)  # only root can make a device
    monkeypatch.setenv("PATH", f"{tmp_path}/bin")
    (tmp_path / "work").mkdir()
    made = workspace_in(tmp_path / "work")
    yield made
    made.close()


def run(workspace: WorkspaceManager, directory: Path) -> Path:
    told = context_told(slug=Slugs.NVME, params={"duration_s": 1}, facts_root=f"{directory}/root")
    Nvme().execute(parse_context(json.dumps(told), slug=Slugs.NVME), workspace)
    return directory / "work/results"


def test_every_drive_is_read_in_every_phase(workspace: WorkspaceManager, tmp_path: Path) -> None:
    write_tool(tmp_path / "bin", "smartctl", "echo health of $3")
    write_tool(tmp_path / "bin", "fio", REPORTING_FIO)

    results = run(workspace, tmp_path)

    assert sorted(path.name for path in results.iterdir()) == [
        "drives.json",
        *(f"fio-{phase}-{name}.json" for phase in ("randread", "read") for name in DRIVES),
        *(f"smartctl-{name}.json" for name in DRIVES),
    ]
    assert json.loads((results / "drives.json").read_text()) == [
        {"name": "nvme0n1", "model": "P5520", "serial": "unknown"},
        {"name": "nvme1n1", "model": "unknown", "serial": "unknown"},
    ]
    health = (results / "smartctl-nvme1n1.json").read_text()
    assert health == f"health of {tmp_path}/root/dev/nvme1n1\n"


DRIVES = ("nvme0n1", "nvme1n1")


def test_a_smartctl_that_finds_a_fault_has_run(workspace: WorkspaceManager, tmp_path: Path) -> None:
    write_tool(tmp_path / "bin", "smartctl", "echo '{}'; exit 8")
    write_tool(tmp_path / "bin", "fio", REPORTING_FIO + "; exit 1")

    run(workspace, tmp_path)

    assert {done.exit_code for done in workspace.commands} == {8, 1}


def test_without_smartctl_nvme_cli_is_asked(workspace: WorkspaceManager, tmp_path: Path) -> None:
    write_tool(tmp_path / "bin", "nvme", 'echo "$@"')
    write_tool(tmp_path / "bin", "fio", REPORTING_FIO)

    results = run(workspace, tmp_path)

    said = (results / "nvme-nvme0n1.json").read_text()
    assert said == f"smart-log --output-format=json {tmp_path}/root/dev/nvme0n1\n"
    assert not (results / "smartctl-nvme0n1.json").exists()


def test_without_either_both_are_named(workspace: WorkspaceManager, tmp_path: Path) -> None:
    with pytest.raises(CannotRun, match=r"smartctl is not installed .*; nvme is not installed"):
        run(workspace, tmp_path)


def test_a_drive_whose_health_hangs_was_not_measured(
    workspace: WorkspaceManager, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tool(tmp_path / "bin", "smartctl", "exec /bin/sleep 60")
    monkeypatch.setattr(nvme, "HEALTH_S", 0.1)

    with pytest.raises(CannotRun, match=r"smartctl got no answer from .*/dev/nvme0n1"):
        run(workspace, tmp_path)


def test_a_fio_without_a_report_names_the_drive(
    workspace: WorkspaceManager, tmp_path: Path
) -> None:
    write_tool(tmp_path / "bin", "smartctl", "echo '{}'")
    write_tool(tmp_path / "bin", "fio", "echo no engine >&2; exit 1")

    with pytest.raises(CannotRun) as refused:
        run(workspace, tmp_path)

    assert str(refused.value) == (
        "fio left no report of its read (nvme0n1) phase (exit 1): no engine"
    )


def test_a_node_without_drives_cannot_run(tmp_path: Path) -> None:
    (tmp_path / "sys/block/sda").mkdir(parents=True)

    with pytest.raises(CannotRun, match="there is no NVMe drive below"):
        found_below(tmp_path)


def test_a_drive_that_may_not_be_read_is_named_with_the_user(
    workspace: WorkspaceManager, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.access", lambda _path, _mode: False)

    with pytest.raises(CannotRun, match=r"/dev/nvme0n1 on n1 may not be read by user \d+"):
        run(workspace, tmp_path)


def test_a_drive_without_a_device_file_is_named(
    workspace: WorkspaceManager, tmp_path: Path
) -> None:
    (tmp_path / "root/dev/nvme1n1").unlink()

    with pytest.raises(CannotRun, match=r"/dev/nvme1n1 cannot be used on n1: No such file"):
        run(workspace, tmp_path)


def test_a_file_in_a_drives_place_is_refused(
    workspace: WorkspaceManager, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stat, "S_ISBLK", lambda _mode: False)

    with pytest.raises(CannotRun, match=r"/dev/nvme0n1 on n1 is not a block device"):
        run(workspace, tmp_path)


@pytest.mark.parametrize("phase", RECIPE)
def test_no_phase_writes(phase: str) -> None:
    argv = fio(phase, device=Path("/dev/nvme0n1"), duration_s=30, report=Path("r.json"))

    assert "--readonly" in argv and "--allow_file_create=0" in argv
    assert f"--rw={phase}" in argv
