"""Many files of a tree, all of them written or none."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from burnin.management.scaffold.names import ScaffoldRefused


def write_all(root: Path, files: Mapping[str, bytes]) -> None:
    """Write every file, by its path below the root. Raises ScaffoldRefused, with nothing changed.

    A file that is there is replaced.
    """
    before = {name: _content(root / name) for name in files}
    made: list[Path] = []
    try:
        for name, content in files.items():
            made += _make_parents(root / name)
            (root / name).write_bytes(content)
    except OSError as error:
        _put_back(root, before, made)
        raise ScaffoldRefused(
            f"{error.filename} cannot be written ({error.strerror}): nothing was changed"
        ) from None


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _make_parents(path: Path) -> list[Path]:
    """Make the directories that lack, and return them, outermost first."""
    missing = [each for each in path.parents if not each.exists()][::-1]
    for each in missing:
        each.mkdir()
    return missing


def _put_back(root: Path, before: Mapping[str, bytes | None], made: list[Path]) -> None:
    for name, content in before.items():
        path = root / name
        with suppress(OSError):  # what could not be written needs no putting back
            if content is None:
                path.unlink(missing_ok=True)
            elif path.read_bytes() != content:
                path.write_bytes(content)
    for directory in reversed(made):
        with suppress(OSError):
            directory.rmdir()
