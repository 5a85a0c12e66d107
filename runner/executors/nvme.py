"""Every NVMe drive of the node, one after the other: its own health log, then fio, read-only."""

from __future__ import annotations

import json
import os
import re
import stat

from runner.base import BaseRunner
from runner.contract.slugs import Slugs
from runner.endings import CannotRun
from runner.facts import read_line, root_of
from runner.fio import ALWAYS, run_fio

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from runner.contract.wire import ExecutionContext
    from runner.workspace import WorkspaceManager

BLOCKS = "sys/block"
DRIVE = re.compile(r"nvme[0-9]+n[0-9]+")
RAMP_S = 5
ONLY_READING = ("--readonly", "--time_based", f"--ramp_time={RAMP_S}", "--group_reporting")
# Eight reads of a megabyte under way are a drive's full speed. The random reads are those of
# oracle-quickstart/oci-hpc, whose reference values others compare with.
RECIPE = {
    "read": ("--rw=read", "--bs=1M", "--iodepth=8"),
    "randread": (
        *("--rw=randread", "--bs=4k", "--iodepth=16", "--numjobs=16"),
        "--random_generator=lfsr",
    ),
}
HEALTH_COMMANDS = {
    "smartctl": ("smartctl", "--json", "--all"),
    "nvme": ("nvme", "smart-log", "--output-format=json"),
}
HEALTH_S = 60  # a health log that is not read by then never will be


class Nvme(BaseRunner):
    slug = Slugs.NVME
    reads = frozenset({"duration_s"})
    tools = (("fio", "--version"),)

    def execute(self, context: ExecutionContext, workspace_manager: WorkspaceManager) -> None:
        root = root_of(context.facts_root, workspace_manager.node_name)
        drives = found_below(root)
        for name in drives:
            _refuse_unreadable(root / "dev" / name, workspace_manager.node_name)
        identities = [{"name": name, **identity(root, name)} for name in drives]
        workspace_manager.write_file("drives.json", json.dumps(identities))
        for name in drives:
            read_health(workspace_manager, name, root / "dev" / name)
        for name in drives:
            for phase in RECIPE:
                _run_phase(workspace_manager, phase, root / "dev" / name, context)


def found_below(root: Path) -> list[str]:
    """Return the drives that the kernel knows. Raises CannotRun if there are none."""
    listed = root / BLOCKS
    names = sorted(path.name for path in listed.glob("nvme*") if DRIVE.fullmatch(path.name))
    if not names:
        raise CannotRun(f"there is no NVMe drive below {listed}: leave single-node.nvme out")
    return names


def identity(root: Path, name: str) -> dict[str, str]:
    """Return model and serial number; what cannot be read is unknown."""
    device = root / BLOCKS / name / "device"
    words = ("model", "serial")
    return {word: (read_line(device / word) or "unknown").strip() for word in words}


def read_health(workspace_manager: WorkspaceManager, name: str, device: Path) -> None:
    """Leave what smartctl says of the drive, or nvme-cli where there is no smartctl."""
    missing = []
    for tool, argv in HEALTH_COMMANDS.items():
        report = workspace_manager.get_custom_artifact_path(f"{tool}-{name}.json")
        try:
            done = workspace_manager.run_command(
                [*argv, str(device)], timeout_s=HEALTH_S, capture_to=report
            )
        except CannotRun as why:
            report.unlink()
            missing.append(str(why))
            continue
        if done.timed_out:
            raise CannotRun(f"{tool} got no answer from {device} within {HEALTH_S} s")
        return
    raise CannotRun("; ".join(missing))


def fio(phase: str, *, device: Path, duration_s: int, report: Path) -> list[str]:
    """Return the command line of one phase. None of them writes."""
    where = [f"--filename={device}", f"--runtime={duration_s}", f"--output={report}"]
    return ["fio", f"--name={phase}", *where, *ALWAYS, *ONLY_READING, *RECIPE[phase]]


def _run_phase(
    workspace_manager: WorkspaceManager, phase: str, device: Path, context: ExecutionContext
) -> None:
    duration_s = int(context.params["duration_s"])
    report = workspace_manager.get_custom_artifact_path(f"fio-{phase}-{device.name}.json")
    run_fio(
        workspace_manager,
        fio(phase, device=device, duration_s=duration_s, report=report),
        phase=f"{phase} ({device.name})",
        report=report,
        duration_s=duration_s + RAMP_S,
    )


def _refuse_unreadable(device: Path, node_name: str) -> None:
    try:
        mode = device.stat().st_mode
    except OSError as error:
        raise CannotRun(f"{device} cannot be used on {node_name}: {error.strerror}") from error
    if not stat.S_ISBLK(mode):
        raise CannotRun(f"{device} on {node_name} is not a block device")
    if not os.access(device, os.R_OK):
        raise CannotRun(
            f"{device} on {node_name} may not be read by user {os.geteuid()}:"
            " run the site's jobs as a user of the group disk, with the right to admin commands"
        )
