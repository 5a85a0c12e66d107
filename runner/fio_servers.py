"""fio on every node of a job at once: a server each, and one client that tells them what to do."""

from __future__ import annotations

import socket
import time

from runner.endings import CannotRun
from runner.multi_node import workers
from runner.places import places_of_nodes
from runner.workers.names import FIO_SERVER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from runner.contract.wire import ExecutionContext
    from runner.process import CommandResult
    from runner.workspace import WorkspaceManager

FIRST_PORT = 18765  # not 8765: a site may have fio servers of its own there
START_S = 60.0  # by then every server answers, or none will
ANSWER_S = 1.0


class FioServers:
    """The servers, up while the `with` lasts. Files that jobs name lie in `directory`."""

    def __init__(
        self, context: ExecutionContext, workspace_manager: WorkspaceManager, directory: Path
    ) -> None:
        self._workspace = workspace_manager
        self._places = places_of_nodes(workspace_manager, first_port=FIRST_PORT)
        self.node_names = list(self._places)
        self._said = workspace_manager.directory / "fio-servers.txt"
        places = ",".join(f"{node}@{place}" for node, place in self._places.items())
        argv = workers(context, FIO_SERVER, f"directory={directory}", f"places={places}")
        self._servers = workspace_manager.start_command(argv, capture_to=self._said)

    def __enter__(self) -> FioServers:
        self._servers.__enter__()
        try:
            self._await()
        except BaseException:
            self._servers.end()
            raise
        return self

    def __exit__(self, *_exception: object) -> None:
        self._servers.end()

    def run(self, jobs: Mapping[str, str], *, report: Path, timeout_s: float) -> CommandResult:
        """Run each node's job, given as the text of a job file, all at the same time."""
        argv = ["fio", "--output-format=json", f"--output={report}"]
        for node, place in self._places.items():
            host, _, port = place.rpartition(":")
            file = self._workspace.directory / f"{report.stem}.{node}.fio"
            file.write_text(jobs[node], encoding="utf-8")
            argv += [f"--client=ip:{host},{port}", str(file)]
        return self._workspace.run_command(argv, timeout_s=timeout_s)

    def _await(self) -> None:
        until = time.monotonic() + START_S
        for node, place in self._places.items():
            while not _answers(place):
                self.refuse_not_started()
                if time.monotonic() > until:
                    words = self._words()[-300:] or "it is silent"
                    raise CannotRun(f"fio's server on {node} does not answer at {place}: {words}")
                time.sleep(0.1)

    def refuse_not_started(self) -> None:
        """Raise CannotRun with what a worker said that could not become a server."""
        starts = tuple(f"{node}: " for node in self._places)
        for line in self._words().splitlines():
            if line.startswith(starts):
                raise CannotRun(f"fio's servers did not start: {line}")

    def _words(self) -> str:
        return self._said.read_text(encoding="utf-8", errors="replace").strip()


def _answers(place: str) -> bool:
    host, _, port = place.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=ANSWER_S).close()
    except OSError:
        return False
    return True
