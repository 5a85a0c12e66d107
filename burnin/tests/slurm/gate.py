"""An sbatch that takes some jobs and holds the next, so that death can come in between."""

from __future__ import annotations

from pathlib import Path

# It says nothing of its own: what sbatch says is read.
WRAPPER = """#!/bin/sh
echo >> {directory}/asked
number=$(wc -l < {directory}/asked)
while takes=$(cat {directory}/takes 2>/dev/null) && [ "$number" -gt "$takes" ]; do sleep 0.05; done
exec /usr/bin/sbatch "$@"
"""


class Gate:
    """Stands open. `directory` goes before the others in the login host's PATH."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir()
        self.directory = directory
        self._asked, self._takes = directory / "asked", directory / "takes"
        self._asked.touch()
        wrapper = directory / "sbatch"
        wrapper.write_text(WRAPPER.format(directory=directory))
        wrapper.chmod(0o755)

    def hold_after(self, count: int) -> None:
        """Let `count` more jobs through, and no other until `open`."""
        self._takes.write_text(str(self._asked_for() + count))

    def is_holding(self) -> bool:
        return self._takes.exists() and self._asked_for() > int(self._takes.read_text())

    def open(self) -> None:
        self._takes.unlink()

    def _asked_for(self) -> int:
        return len(self._asked.read_text().splitlines())
