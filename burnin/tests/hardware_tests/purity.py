"""A guard under which nothing can reach beyond the files it reads."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_DENIED = (
    "socket.",
    "subprocess.",
    "os.system",
    "os.exec",
    "os.spawn",
    "os.posix_spawn",
    "os.fork",
    "os.kill",
    "os.startfile",
    "os.remove",
    "os.rename",
    "os.rmdir",
    "os.mkdir",
    "os.link",
    "os.symlink",
    "os.truncate",
    "os.chmod",
    "os.chown",
    "os.utime",
    "os.setxattr",
    "os.putenv",
    "os.unsetenv",
    "shutil.",
    "tempfile.",
    "ctypes.",
    "urllib.",
    "pty.",
)
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_guarded = False


class Impure(BaseException):
    """Something reached out. No `except Exception` of the code under test can hide it."""


@contextmanager
def pure() -> Iterator[None]:
    """Deny sockets, processes and writes. Python cannot take an audit hook back: it stays, idle."""
    global _guarded
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    _guarded = True
    try:
        yield
    finally:
        _guarded = False
        sys.dont_write_bytecode = before


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if not _guarded:
        return
    if event.startswith(_DENIED):
        raise Impure(f"{event}{arguments!r:.200}")
    if event == "open" and _writes(arguments):
        raise Impure(f"opened {arguments[0]!r:.200} to write")


def _writes(arguments: tuple[Any, ...]) -> bool:
    _, mode, flags = arguments
    if isinstance(mode, str) and set(mode) & set("wax+"):
        return True
    return isinstance(flags, int) and bool(flags & _WRITING)


sys.addaudithook(_hook)
