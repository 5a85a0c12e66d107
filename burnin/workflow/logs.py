"""What a run has written: while it runs as the satellite tails it, then as it was collected.

Whoever shows a log calls

    read_log(run, "stdout.txt", offset=0, limit=65536, store=wiring.store())
        -> LogPiece(content, next_offset, total, is_final)

and asks for the rest with `offset=piece.next_offset` until `piece.is_final` and
`piece.next_offset == piece.total`. `limit=0` asks for the total alone. While somebody looks at a
log that is not final, `burnin.workflow.follow_log.follow_log` has its new bytes sent.
"""

import os
import shutil
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple, get_args

from django.conf import settings

from burnin.models import Artifact, TestRun
from burnin.satellite.messages import LogPart, TailOrder
from burnin.states import RunState
from burnin.storage.store import ArtifactStore
from burnin.workflow.ledger import NotTaken
from runner.contract.wire import AttemptToken

LONGEST_LOG_BYTES = 16 << 20
KEPT_FOR = timedelta(days=14)  # of what was tailed and never collected, since it last grew
NAMES: tuple[str, ...] = get_args(TailOrder.model_fields["name"].annotation)


class NoSuchLog(LookupError):
    """No run has a log of this name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name!r:.80} is no log of a run: ask for {', '.join(NAMES)}")


class LogPiece(NamedTuple):
    """Bytes of a log. `total` is what is known to be there now; a final log grows no more."""

    content: bytes
    next_offset: int
    total: int
    is_final: bool


def read_log(
    run: TestRun,
    name: str = "stdout.txt",
    *,
    offset: int,
    limit: int,
    store: ArtifactStore,
    attempt: int | None = None,
) -> LogPiece:
    """Return a piece of the log of an attempt, without a number of the newest.

    The collected file goes before the tailed one, which is its beginning. A run that never had an
    attempt has an empty log. Raises NoSuchLog, StoreUnreachable or StoreRefused.
    """
    if name not in NAMES:
        raise NoSuchLog(name)
    number = run.attempt_number if attempt is None else attempt
    kept = Artifact.objects.filter(attempt__run=run, attempt__number=number, name=name).first()
    token = AttemptToken(str(run.pk), number)
    total = size(token, name) if kept is None else kept.size_bytes
    start = min(max(offset, 0), total)
    count = min(limit, total - start)
    if count <= 0:
        content = b""
    elif kept is None:
        content = read(token, name, offset=start, limit=count)
    else:
        content = store.read(kept.key, offset=start, limit=count)
    is_over = run.state == RunState.JUDGED or number != run.attempt_number
    return LogPiece(content, start + len(content), total, kept is not None or is_over)


def write(token: AttemptToken, part: LogPart) -> None:
    """Put the part where it belongs, by byte offset. Raises NotTaken.

    What would leave a gap is passed over: it is asked for again, from where the log ends.
    """
    if part.name not in NAMES:
        raise NotTaken(f"{part.name!r:.80} is no log of an attempt")
    if part.offset + len(part.content) > LONGEST_LOG_BYTES:
        raise NotTaken(f"{part.name} would grow beyond {LONGEST_LOG_BYTES} bytes")
    if part.offset > size(token, part.name):
        return
    target = path(token, part.name)
    target.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.pwrite(descriptor, part.content, part.offset)
    finally:
        os.close(descriptor)


def read(token: AttemptToken, name: str, *, offset: int, limit: int) -> bytes:
    """Return at most `limit` bytes from a byte offset; nothing if nobody has tailed it."""
    try:
        with path(token, name).open("rb") as file:
            file.seek(offset)
            return file.read(limit)
    except FileNotFoundError:
        return b""


def size(token: AttemptToken, name: str) -> int:
    try:
        return path(token, name).stat().st_size
    except FileNotFoundError:
        return 0


def forget(token: AttemptToken, names: Iterable[str]) -> None:
    """Delete what was tailed of these logs: they were collected, and that is read from now on."""
    for name in set(names) & set(NAMES):
        path(token, name).unlink(missing_ok=True)
    with suppress(OSError):  # another log of the attempt was not collected, or nobody has tailed
        path(token, NAMES[0]).parent.rmdir()


def forget_old(now: datetime) -> None:
    """Delete what has not grown for long and was never collected."""
    for directory in _root().glob("*"):
        try:
            grown = max((each.stat().st_mtime for each in directory.iterdir()), default=0.0)
        except FileNotFoundError:  # it is collected this very moment, and goes with that
            continue
        if now.timestamp() - grown > KEPT_FOR.total_seconds():
            shutil.rmtree(directory, ignore_errors=True)  # somebody may write to it just now


def path(token: AttemptToken, name: str) -> Path:
    return _root() / token.directory / name


def _root() -> Path:
    return Path(settings.VAR_DIR) / "logs"
