"""One measurement of perftest: a server on one node, a client on the other, both through srun."""

from __future__ import annotations

import re
import time

from runner.endings import CannotRun
from runner.multi_node import why_no_report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from runner.process import CommandResult
    from runner.workspace import WorkspaceManager

CONNECT_S = 30.0  # the server may be up this much later: it may come from a container
LONGEST_S = 120.0  # a client that has not ended by then hangs
AGAIN_S = 0.3
# The first is enroot's, which brings the network cards into a container.
ENVIRONMENT = {"MELLANOX_VISIBLE_DEVICES": "all", "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
MEMORY_REFUSED = re.compile(r"(?:allocate|create|register) MR\b", re.IGNORECASE)
# What a client says that got as far as its work, well or badly.
WORKED = (b"#bytes", b"Completion with error", b"Failed status")


def measure(
    workspace_manager: WorkspaceManager,
    server: Sequence[str],
    client: Sequence[str],
    *,
    report: Path,
) -> CommandResult:
    """Leave what the client said, on either stream. It asks until the server is up."""
    until = time.monotonic() + CONNECT_S
    others_words = report.with_suffix(".server.txt")
    with workspace_manager.start_command(server, capture_to=others_words, env=ENVIRONMENT):
        while True:
            done = workspace_manager.run_command(
                client, timeout_s=LONGEST_S, env=ENVIRONMENT, capture_to=report
            )
            with report.open("a", encoding="utf-8") as file:
                file.write(done.stderr_tail)
            if "Couldn't connect" not in done.stderr_tail or time.monotonic() > until:
                return done
            time.sleep(AGAIN_S)


def refuse_no_work(done: CommandResult, report: Path, what: str) -> None:
    """Raise CannotRun unless the client got as far as its work."""
    done.refuse_hang(what)
    if not any(words in report.read_bytes() for words in WORKED):
        raise CannotRun(_why_no_work(done, report, what))


def _why_no_work(done: CommandResult, report: Path, what: str) -> str:
    """Say what the client said; of memory that no card reads, or no server, the reason for it."""
    server = report.with_suffix(".server.txt").read_text(errors="replace")
    if MEMORY_REFUSED.search(server) or MEMORY_REFUSED.search(report.read_text(errors="replace")):
        on_gpu = any(word.startswith("--use_") for word in done.argv)
        needs = "nvidia_peermem loaded" if on_gpu else "memlock unlimited"
        return f"{what}: a card may not read the memory (Couldn't allocate MR): is {needs} there?"
    why = why_no_report(done, what)
    said = [line.strip() for line in server.splitlines() if line.strip(" -*\t")]
    return f"{why}; the server said: {said[-1][:300]}" if "connect" in why and said else why
