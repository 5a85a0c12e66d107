"""One round of an iperf matrix on one node: it serves one peer, or measures to one, or rests."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

from runner.workers.words import node_name, split_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

NO_IPERF = 3  # exit code of a worker that found none
SERVER = ("iperf3", "--server", "--one-off", "--port")
CLIENT = ("iperf3", "--json", "--parallel", "4", "--omit", "1", "--connect-timeout", "3000")
CONNECT_S = 10.0  # the peer's server may start this much later
SETTLE_S = 20.0  # a client that has not ended this long after its time hangs


def main(arguments: Sequence[str]) -> int:
    """Do this node's part. `duration_s=5 results=DIR pairs=n1>n2@10.0.0.2:5202,…`."""
    asked = split_words(arguments)
    if shutil.which("iperf3") is None:
        print(f"{node_name()}: iperf3 is not installed", file=sys.stderr, flush=True)
        return NO_IPERF
    duration_s = int(asked["duration_s"])
    for pair in asked["pairs"].split(","):
        ends, _, place = pair.partition("@")
        source, _, target = ends.partition(">")
        address, _, port = place.rpartition(":")
        if node_name() == target:
            _serve(port, duration_s)
        elif node_name() == source:
            report = _measure(address, port, duration_s)
            Path(asked["results"], f"{source}--{target}.json").write_text(report, encoding="utf-8")
    return 0


def _serve(port: str, duration_s: int) -> None:
    """Serve one client. Whoever never comes is not waited for."""
    server = subprocess.Popen([*SERVER, port], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        server.wait(CONNECT_S + duration_s + SETTLE_S)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


def _measure(address: str, port: str, duration_s: int) -> str:
    """Return iperf3's report, of the last try if the peer never answered."""
    until = time.monotonic() + CONNECT_S
    while True:
        report = _ask(address, port, duration_s)
        if "unable to connect" not in report or time.monotonic() > until:
            return report
        time.sleep(0.2)


def _ask(address: str, port: str, duration_s: int) -> str:
    argv = [*CLIENT, "--client", address, "--port", port, "--time", str(duration_s)]
    try:
        done = subprocess.run(
            argv, stdout=subprocess.PIPE, timeout=duration_s + SETTLE_S, check=False
        )
    except subprocess.TimeoutExpired:
        why = f"it hung and was ended {SETTLE_S:g} s after its time"
        return json.dumps({"start": {"version": ""}, "end": {}, "error": why})
    return done.stdout.decode("utf-8", "replace")
