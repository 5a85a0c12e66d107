"""After the workload: pack results/ and take digests."""

from __future__ import annotations

import gzip
import hashlib
import os
import tarfile

from runner.contract.artifacts import CUSTOM, MAX_BYTES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any

HEADERS_BYTES = 2048  # what tar may add to one file, and gzip to data that does not compress


def pack(results: Path, archive: Path, *, limit_bytes: int = MAX_BYTES[CUSTOM]) -> list[str]:
    """Pack `results` into `archive`, in order of name; return what had to be left out.

    A file is packed whole or not at all. Left out are links, which may lead anywhere, special
    files, and what does not fit; all of it stays in `results`.
    """
    fitting_bytes = limit_bytes - limit_bytes // 1000
    with archive.open("wb") as raw, gzip.GzipFile("", "wb", 6, raw, mtime=0) as zipped:
        return _add_what_fits(zipped, results, fitting_bytes)


def _add_what_fits(zipped: gzip.GzipFile, results: Path, left_bytes: int) -> list[str]:
    tar, left_out = tarfile.TarFile(fileobj=zipped, mode="w"), []
    for path in _files(results):
        size_bytes = path.lstat().st_size + HEADERS_BYTES
        if path.is_symlink() or not path.is_file() or size_bytes > left_bytes:
            left_out.append(f"{results.name}/{path.relative_to(results)}")
        else:
            left_bytes -= size_bytes
            _add(tar, path, str(path.relative_to(results)))
    tar.close()
    return left_out


def _files(directory: Path) -> Iterator[Path]:
    for path in sorted(directory.iterdir()):
        if path.is_dir() and not path.is_symlink():
            yield from _files(path)
        else:
            yield path


def _add(tar: tarfile.TarFile, path: Path, name: str) -> None:
    with path.open("rb") as file:
        member = tarfile.TarInfo(name)
        member.size = os.fstat(file.fileno()).st_size
        member.mode = 0o644
        tar.addfile(member, file)


def digest(path: Path) -> dict[str, Any]:
    """Return size and sha256 of a file, as metadata.json names them."""
    sha256, size_bytes = hashlib.sha256(), 0
    with path.open("rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            sha256.update(block)
            size_bytes += len(block)
    return {"size_bytes": size_bytes, "sha256": sha256.hexdigest()}
