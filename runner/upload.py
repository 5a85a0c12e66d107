"""Streams one file to a presigned URL. No message of ours ever holds the URL."""

from __future__ import annotations

import os
import time

from runner.http_put import put

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import IO

STALL_S = 30.0  # how long the store may say nothing
FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 30.0
WORTH_RETRYING = frozenset({408, 429})


class UploadFailed(Exception):
    """The file stays in the workspace, which is the spool."""


class _Refused(Exception):
    """The store answered no."""


class Uploader:
    """Puts files until `deadline`, a `time.monotonic()`."""

    def __init__(self, *, deadline: float, sleep: Callable[[float], None] = time.sleep) -> None:
        self._deadline, self._sleep = deadline, sleep

    def put(self, path: Path, url: str) -> None:
        """Upload the file, trying again as long as that may help; or raise UploadFailed."""
        pause_s, last = FIRST_PAUSE_S, "there was no time left to begin"
        while self._left_s() > 0:
            try:
                return self._put_once(path, url)
            except _Refused as error:
                raise UploadFailed(f"{path.name} was not uploaded: {error}") from None
            except OSError as error:
                last = _describe(error)
            self._sleep(max(min(pause_s, self._left_s()), 0))
            pause_s = min(pause_s * 2, LONGEST_PAUSE_S)
        raise UploadFailed(f"{path.name} was not uploaded in time: {last}")

    def _put_once(self, path: Path, url: str) -> None:
        timeout_s = max(min(STALL_S, self._left_s()), 0.001)
        with path.open("rb") as file:
            size_bytes = os.fstat(file.fileno()).st_size
            _check(put(url, _Timed(file, self._left_s), size_bytes, timeout_s=timeout_s))

    def _left_s(self) -> float:
        return self._deadline - time.monotonic()


class _Timed:
    """A file that stops being readable when time is up: a store that sips must not hold us."""

    def __init__(self, file: IO[bytes], left_s: Callable[[], float]) -> None:
        self._file, self._left_s = file, left_s

    def read(self, size: int) -> bytes:
        if self._left_s() <= 0:
            raise TimeoutError("the time for uploads is over")
        return self._file.read(size)


def _check(status: int) -> None:
    if 200 <= status < 300:
        return
    answer = f"the store answered {status} {_phrase(status)}".strip()
    if status >= 500 or status in WORTH_RETRYING:
        raise OSError(answer)
    raise _Refused(answer)


def _phrase(status: int) -> str:
    from http import HTTPStatus

    return HTTPStatus(status).phrase if status in set(HTTPStatus) else ""


def _describe(error: OSError) -> str:
    """Say what went wrong without a URL, which the message of a library may quote."""
    return error.strerror or str(error.args[0] if error.args else type(error).__name__)
