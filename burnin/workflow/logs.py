"""What a run has written so far, as the satellite tails it: a bounded file for each log."""

import os
from pathlib import Path
from typing import get_args

from django.conf import settings

from burnin.satellite.messages import LogPart, TailOrder
from burnin.workflow.ledger import NotTaken
from runner.contract.wire import AttemptToken

LONGEST_LOG_BYTES = 16 << 20
NAMES = get_args(TailOrder.model_fields["name"].annotation)


def write(token: AttemptToken, part: LogPart) -> None:
    """Put the part where it belongs, by byte offset. Raises NotTaken."""
    if part.name not in NAMES:
        raise NotTaken(f"{part.name!r:.80} is no log of an attempt")
    if part.offset + len(part.content) > LONGEST_LOG_BYTES:
        raise NotTaken(f"{part.name} would grow beyond {LONGEST_LOG_BYTES} bytes")
    path = _path(token, part.name)
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.pwrite(descriptor, part.content, part.offset)
    finally:
        os.close(descriptor)


def read(token: AttemptToken, name: str, *, offset: int, limit: int) -> bytes:
    """Return at most `limit` bytes from a byte offset; nothing if nobody has tailed it."""
    try:
        with _path(token, name).open("rb") as file:
            file.seek(offset)
            return file.read(limit)
    except FileNotFoundError:
        return b""


def size(token: AttemptToken, name: str) -> int:
    try:
        return _path(token, name).stat().st_size
    except FileNotFoundError:
        return 0


def _path(token: AttemptToken, name: str) -> Path:
    return Path(settings.VAR_DIR) / "logs" / token.directory / name
