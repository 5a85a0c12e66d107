"""fio on a scratch file, or read-only on a device. The recipe is data: RECIPE."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from runner.base import BaseRunner
from runner.contract.slugs import Slugs
from runner.endings import CannotRun
from runner.fio import ALWAYS, run_fio

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.contract.wire import ExecutionContext
    from runner.workspace import WorkspaceManager

SCRATCH_BYTES = 256 << 20
SEQUENTIAL = ("--bs=1M", "--iodepth=8")
RANDOM = ("--bs=4k", "--iodepth=32")
CHECKED = ("--verify=crc32c", "--do_verify=1", "--verify_state_save=0")
# Verify first: it fills the scratch file, and holes read too fast.
RECIPE = {
    "verify": ("--rw=write", *SEQUENTIAL, *CHECKED),
    "write": ("--rw=write", *SEQUENTIAL, "--time_based"),
    "read": ("--rw=read", *SEQUENTIAL, "--readonly", "--time_based"),
    "randread": ("--rw=randread", *RANDOM, "--readonly", "--time_based"),
}
READING = ("read", "randread")


class Storage(BaseRunner):
    slug = Slugs.STORAGE
    reads = frozenset({"target", "path", "duration_s"})
    tools = (("fio", "--version"),)

    def execute(self, context: ExecutionContext, workspace_manager: WorkspaceManager) -> None:
        path, duration_s = Path(context.params["path"]), int(context.params["duration_s"])
        if context.params["target"] == "directory":
            with Scratch(path) as scratch:
                for phase in RECIPE:
                    _run_phase(workspace_manager, phase, scratch, duration_s)
        elif context.params["target"] == "device":
            _refuse_no_device(path, workspace_manager.node_name)
            for phase in READING:  # never a phase that writes
                _run_phase(workspace_manager, phase, str(path), duration_s)
        else:
            raise CannotRun(f"unknown target {context.params['target']!r}: directory or device")


class Scratch:
    """A file without a name: it is gone when this process is, however that ends.

    Entering returns a path by which fio finds it.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def __enter__(self) -> str:
        try:
            self._refuse_little_space()
            name = self._directory / f".burn-in.{os.getpid()}.{os.urandom(8).hex()}"
            self._file = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            name.unlink()
            # At full size, or fio would lay it out, which begins with removing it by name.
            os.ftruncate(self._file, SCRATCH_BYTES)
        except OSError as error:
            raise CannotRun(f"no scratch file in {self._directory}: {error.strerror}") from error
        return f"/proc/{os.getpid()}/fd/{self._file}"

    def __exit__(self, *_exception: object) -> None:
        os.close(self._file)

    def _refuse_little_space(self) -> None:
        space = os.statvfs(self._directory)
        free_bytes = space.f_bavail * space.f_frsize
        if free_bytes < 2 * SCRATCH_BYTES:
            raise CannotRun(
                f"{self._directory} has {free_bytes >> 20} MiB free, needs {SCRATCH_BYTES >> 19}:"
                " the scratch file may take half"
            )


def fio(phase: str, *, filename: str, duration_s: int, report: Path) -> list[str]:
    """Return the command line of one phase."""
    ends = [f"--runtime={duration_s}"] if "--time_based" in RECIPE[phase] else []
    where = [f"--filename={filename}", f"--size={SCRATCH_BYTES}", f"--output={report}"]
    return ["fio", f"--name={phase}", *where, *ALWAYS, *RECIPE[phase], *ends]


def _run_phase(
    workspace_manager: WorkspaceManager, phase: str, filename: str, duration_s: int
) -> None:
    report = workspace_manager.get_custom_artifact_path(f"fio-{phase}.json")
    argv = fio(phase, filename=filename, duration_s=duration_s, report=report)
    run_fio(workspace_manager, argv, phase=phase, report=report, duration_s=duration_s)


def _refuse_no_device(path: Path, node_name: str) -> None:
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise CannotRun(f"{path} cannot be used on {node_name}: {error.strerror}") from error
    if not stat.S_ISBLK(mode):
        raise CannotRun(f"{path} on {node_name} is not a block device; use target 'directory'")
