"""What a probe of node-health asks: files below the node's root, and tools from PATH."""

from __future__ import annotations

from runner.endings import CannotRun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Any

    from runner.workspace import WorkspaceManager

ANSWER_S = 180.0  # nvidia-smi that has not answered by then hangs in the driver
WORDS_KEPT = 300


class Node:
    """The machine under test. `root` is where its /proc, /sys and /dev are."""

    def __init__(
        self, root: Path, workspace_manager: WorkspaceManager, *, filesystems: Sequence[str]
    ) -> None:
        self.root = root
        self.workspace_manager = workspace_manager
        self.filesystems = tuple(filesystems)

    def read(self, path: str) -> str:
        """Return a file's text. Raises CannotRun."""
        try:
            return (self.root / path).read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise CannotRun(f"{self.root / path} cannot be read: {error.strerror}") from error

    def read_count(self, path: str) -> int:
        """Return the whole number that a file holds. Raises CannotRun."""
        word = self.read(path).strip()
        if not word.lstrip("-").isdecimal():
            raise CannotRun(f"{self.root / path} holds no whole number: {word[:40]!r}")
        return int(word)

    def names(self, directory: str, pattern: str = "*") -> list[str]:
        """Return what matches below a directory, relative to it; no directory holds nothing."""
        below = self.root / directory
        return sorted(str(path.relative_to(below)) for path in below.glob(pattern))

    def devices(self, directory: str, pattern: str, what: str) -> list[str]:
        """Return the devices that the kernel lists in a directory. Raises CannotRun if none."""
        if not (found := self.names(directory, pattern)):
            raise CannotRun(f"there is no {what} below {self.root / directory}")
        return found

    def ask(self, argv: Sequence[str], *, report: str) -> dict[str, Any]:
        """Leave a tool's output in `report`.txt and return how it ended.

        Raises CannotRun if the tool is missing. That it hung is a finding: the hub judges it.
        """
        path = self.workspace_manager.get_custom_artifact_path(f"{report}.txt")
        done = self.workspace_manager.run_command(argv, timeout_s=ANSWER_S, capture_to=path)
        return {
            "exit_code": done.exit_code,
            "hung_s": done.duration_s if done.timed_out else None,
            "words": (done.stderr_tail or done.stdout_tail).strip()[-WORDS_KEPT:],
        }
