"""One directory from every node at once: IOR and mdtest where the site has both, else fio."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from runner.base import BaseRunner
from runner.contract.slugs import Slugs
from runner.endings import CannotRun
from runner.fio_servers import FioServers
from runner.multi_node import srun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from runner.contract.wire import ExecutionContext
    from runner.process import CommandResult
    from runner.workspace import WorkspaceManager

FIO_BYTES = 256 << 20  # of each node's file
ALWAYS = "size={size} bs=1M iodepth=8 ioengine=libaio direct=1 allow_file_create=0"
PHASES = {
    "fill": "rw=write verify=crc32c do_verify=0 verify_state_save=0 end_fsync=1",
    "verify": "rw=read verify=crc32c verify_state_save=0",
    "write": "rw=write time_based=1 runtime={duration_s}",
    "read": "rw=read time_based=1 runtime={duration_s}",
}
# A node's own file may come from its own memory; its neighbour's must come over the network.
READING = ("verify", "read")
IOR_BYTES = 5 << 30  # of each node, both files
IOR = "ior -a POSIX -e -g -C -w -r -R"
TOOLS = {  # as IO500 does it: a file each, one file in odd pieces, many small files
    "ior-easy": f"{IOR} -F -t 1m -b 4g -o",
    "ior-hard": f"{IOR} -t 47008 -b 47008 -s 20000 -o",
    "mdtest": "mdtest -F -u -n 1000 -N 1 -d",
}
HEADERS = (b"MPI Coordinated Test of Parallel I/O", b" was launched with ")
SETTLE_S = 600  # a phase that has not ended this long after its time hangs
IOR_S = 3600


class ParallelStorage(BaseRunner):
    slug = Slugs.PARALLEL_STORAGE
    reads = frozenset({"path", "duration_s"})

    def execute(self, context: ExecutionContext, workspace_manager: WorkspaceManager) -> None:
        has_ior = all(shutil.which(name) for name in ("ior", "mdtest"))
        node_bytes = IOR_BYTES if has_ior else FIO_BYTES
        workspace_manager.write_file("tool.txt", "ior\n" if has_ior else "fio\n")
        name = f".burn-in.{workspace_manager.directory.name}"
        with SharedScratch(Path(context.params["path"]) / name) as scratch:
            scratch.refuse_little_space(context.num_nodes * node_bytes)
            if has_ior:
                _run_ior(context, workspace_manager, scratch.directory)
            else:
                _run_fio(context, workspace_manager, scratch)


class SharedScratch:
    """A directory that every node sees, gone afterwards. Only kill -9 leaves it behind."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def __enter__(self) -> SharedScratch:
        try:
            self.directory.mkdir()
        except OSError as error:
            raise CannotRun(f"no scratch directory {self.directory}: {error.strerror}") from error
        return self

    def __exit__(self, *_exception: object) -> None:
        shutil.rmtree(self.directory, ignore_errors=True)

    def refuse_little_space(self, needed_bytes: int) -> None:
        space = os.statvfs(self.directory)
        if space.f_bavail * space.f_frsize < 2 * needed_bytes:
            raise CannotRun(
                f"{self.directory.parent} has {space.f_bavail * space.f_frsize >> 20} MiB free,"
                f" needs {needed_bytes >> 19}: the scratch files may take half"
            )

    def lay_out(self, name: str, size_bytes: int) -> None:
        """Make a file here, so that a node which sees another directory finds none."""
        with (self.directory / name).open("wb") as file:
            file.truncate(size_bytes)


def _run_fio(
    context: ExecutionContext, workspace_manager: WorkspaceManager, scratch: SharedScratch
) -> None:
    duration_s = int(context.params["duration_s"])
    with FioServers(context, workspace_manager, scratch.directory) as servers:
        for node in servers.node_names:
            scratch.lay_out(node, FIO_BYTES)
        for phase in PHASES:
            workspace_manager.say(f"fio: {phase}")
            report = workspace_manager.get_custom_artifact_path(f"fio-{phase}.json")
            done = servers.run(
                fio_jobs(phase, servers.node_names, duration_s),
                report=report,
                timeout_s=duration_s + SETTLE_S,
            )
            if not report.exists() or b"{" not in report.read_bytes():
                servers.refuse_not_started()  # another may have answered in their place
                said = report.read_text(errors="replace") if report.exists() else ""
                _refuse(f"fio's {phase} phase", done, said)


def fio_jobs(phase: str, node_names: list[str], duration_s: int) -> dict[str, str]:
    """Return each node's job file. Whoever reads, reads what the next node wrote."""
    lines = f"{ALWAYS} {PHASES[phase]}".format(size=FIO_BYTES, duration_s=duration_s).split()
    turned = [*node_names[1:], node_names[0]] if phase in READING else node_names
    return {
        node: "\n".join([f"[{node}]", f"filename={file}", *lines, ""])
        for node, file in zip(node_names, turned)  # noqa: B905 (not in Python 3.8)
    }


def _run_ior(context: ExecutionContext, workspace_manager: WorkspaceManager, scratch: Path) -> None:
    for name, command in TOOLS.items():
        workspace_manager.say(command)
        report = workspace_manager.get_custom_artifact_path(f"{name}.txt")
        done = workspace_manager.run_command(
            [*srun(context), *command.split(), str(scratch / name)],
            timeout_s=IOR_S,
            capture_to=report,
        )
        if done.timed_out or not any(header in report.read_bytes() for header in HEADERS):
            _refuse(name, done, "")


def _refuse(what: str, done: CommandResult, said: str) -> NoReturn:
    """Raise CannotRun. What fio's client calls its error stands where its report should."""
    done.refuse_hang(what)
    words = said[-300:].strip() or done.last_words
    raise CannotRun(f"{what} left no report (exit {done.exit_code}): {words}")
