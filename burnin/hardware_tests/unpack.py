"""Opening a tar.gz that a node wrote: it may hold anything."""

from __future__ import annotations

import shutil
import tarfile
import zlib
from pathlib import Path

MAX_MEMBERS = 10_000
MAX_UNPACKED_BYTES = 1 << 30
MAX_DEPTH = 50  # whoever removes a tree goes down it by recursion


class TornArtifact(Exception):
    """A file is not what was written on the node, or not what may be written there."""


def unpack(archive: Path, destination: Path) -> None:
    """Unpack plain files and directories below the destination. Raises TornArtifact.

    Links, devices, absolute paths and `..` are refused, and so is a bomb: before it is unpacked.
    """
    try:
        with tarfile.open(archive, "r:gz") as tar:
            _extract(tar, destination)
    except (tarfile.TarError, EOFError, OSError, zlib.error, ValueError) as error:
        raise TornArtifact(f"{archive.name} cannot be unpacked: {error}") from error


def _extract(tar: tarfile.TarFile, destination: Path) -> None:
    count = total_bytes = 0
    names: set[str] = set()
    for member in tar:
        count, total_bytes = count + 1, total_bytes + member.size
        _refuse_odd(member, names)
        if count > MAX_MEMBERS or total_bytes > MAX_UNPACKED_BYTES:
            raise TornArtifact(
                f"custom artifacts of more than {MAX_MEMBERS} files or {MAX_UNPACKED_BYTES} bytes"
            )
        _write(tar, member, destination / member.name)


def _write(tar: tarfile.TarFile, member: tarfile.TarInfo, path: Path) -> None:
    """Write a plain file or directory. No link ever stands below the destination.

    The tarfile of Debian 12's Python 3.11.2 has no `filter="data"` to do it with.
    """
    directory = path if member.isdir() else path.parent
    directory.mkdir(parents=True, exist_ok=True)
    content = tar.extractfile(member)  # None: a directory
    if content is not None:
        with content, path.open("wb") as file:
            shutil.copyfileobj(content, file)


def _refuse_odd(member: tarfile.TarInfo, names: set[str]) -> None:
    if not (member.isreg() or member.isdir()):
        raise TornArtifact(f"custom artifact {member.name!r:.200} is no plain file")
    path = Path(member.name)
    if path.is_absolute() or ".." in path.parts:
        raise TornArtifact(f"custom artifact {member.name!r:.200} leaves its directory")
    if len(path.parts) > MAX_DEPTH:
        raise TornArtifact(f"custom artifact {member.name!r:.200} lies deeper than {MAX_DEPTH}")
    if member.isreg() and str(path) in names:
        raise TornArtifact(f"custom artifact {member.name!r:.200} stands there twice")
    names.add(str(path))
