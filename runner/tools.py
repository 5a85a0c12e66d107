"""Which versions of its tools a test ran with."""

from __future__ import annotations

import os
import signal
import time

from runner.endings import CannotRun
from runner.process import Command, find_executable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

ANSWER_S = 2.0
LONGEST = 200


def tool_versions(tools: Iterable[tuple[str, ...]], *, node_name: str) -> dict[str, str]:
    """Return what each tool says of its version; a tool that is not there has none."""
    answers = {argv[0]: _ask(argv, node_name) for argv in tools}
    return {name: answer for name, answer in answers.items() if answer}


def _ask(argv: tuple[str, ...], node_name: str) -> str:
    said: list[bytes] = []
    try:
        executable = find_executable(
            argv[0], path=os.environ.get("PATH", os.defpath), node_name=node_name
        )
        command = Command(
            argv, executable=executable, env=os.environ, stdout=said.append, stderr=said.append
        )
    except CannotRun:
        return ""
    try:
        command.pump(time.monotonic() + ANSWER_S)
    finally:
        command.kill(signal.SIGKILL)  # no grace: the time before Slurm's limit is for uploads
        command.end()
    lines = b"".join(said).decode("utf-8", "replace").strip().splitlines()
    return lines[0].strip()[:LONGEST] if lines else ""
