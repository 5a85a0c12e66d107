"""P4, the runner's part: CPU from the start of its process to the first line of the workload.

The bundle that is measured is the real one, in which the hello-world workload is replaced by one
that reports the CPU its process has used. `python3 -c pass` runs in turn with it, on a node.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from statistics import median
from threading import Thread
from uuid import uuid4

from bench.place import OPEN, Place
from bench.table import Line, at_most
from burnin.runner_bundle import SOURCE, bundle_bytes
from runner.contract.artifacts import MAX_BYTES
from runner.contract.slugs import Slugs
from runner.contract.wire import ExecutionContext

ROUNDS = 21
WORKLOAD = "runner/executors/hello_world.py"
PROBE = b"""

def _report(self, context, workspace_manager):
    import time

    used = os.times()
    children_s = used.children_user + used.children_system
    sys.stdout.write(f"{time.process_time() + children_s}\\n")
    sys.stdout.flush()
    os._exit(0)


HelloWorld.execute = _report
"""
TARGET = at_most(5, 3)


def measure(place: Place) -> Sequence[Line]:
    directory = place.directory("p4")
    bundle = directory / "runner.pyz"
    bundle.write_bytes(bundle_with_probe())
    with Sink() as url:
        for number in range(ROUNDS):
            write_context(directory, number, url)
        found = json.loads(_on_a_node(place, bundle, directory))
    runner_s, python_s = median(found["runner"]), median(found["python"])
    ratio = runner_s / python_s
    return [
        Line(
            "P4b",
            "runner CPU, start to workload",
            f"{runner_s * 1e3:.1f} ms",
            f"{python_s * 1e3:.1f} ms",
            ratio,
            ratio,
            TARGET,
            (f"reference: CPU of `python3 -c pass`; medians of {ROUNDS}, in turn, on a node",),
        )
    ]


def bundle_with_probe() -> bytes:
    """Return the bundle with a workload that reports the CPU used so far and ends."""
    output = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(bundle_bytes(SOURCE))) as real,
        zipfile.ZipFile(output, "w") as probing,
    ):
        for entry in real.infolist():
            content = real.read(entry)
            probing.writestr(entry, content + PROBE if entry.filename == WORKLOAD else content)
    return output.getvalue()


def write_context(directory: Path, number: int, url: str) -> None:
    attempt = directory / str(number)
    attempt.mkdir()
    context = ExecutionContext(
        run_id=str(uuid4()),
        attempt=1,
        slug=Slugs.HELLO_WORLD,
        params={},
        node_names=[],
        num_nodes=1,
        time_limit_s=300,
        iterations=1,
        facts_root="/",
        uploads={name: f"{url}/{number}/{name}" for name in MAX_BYTES},
    )
    (attempt / "context.json").write_text(json.dumps(context.as_json()))


def _on_a_node(place: Place, bundle: Path, directory: Path) -> str:
    program = Path(__file__).with_name("on_node.py")
    # -I: nothing of this process's own environment may slow or quicken what is measured.
    return place.slurm(
        "srun", "--partition", OPEN, "--nodes=1", "--ntasks=1", "--exclusive",
        "python3", "-I", program, bundle, directory, str(ROUNDS), timeout_s=120,
    )  # fmt: skip


class Sink:
    """A store that takes everything and keeps nothing: its own CPU is not the runner's."""

    def __enter__(self) -> str:
        self._server = HTTPServer(("127.0.0.1", 0), _Taker)
        Thread(target=self._server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self._server.server_port}"

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Taker(BaseHTTPRequestHandler):
    def do_PUT(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""
