"""A store in a directory of the hub. The hub's own web process serves its signed URLs."""

from __future__ import annotations

import os
import shutil
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Protocol

from burnin.storage.grants import Grant, GrantSigner, Method
from burnin.storage.store import (
    ObjectMissing,
    ObjectTooLarge,
    StoreRefused,
    StoreUnreachable,
    require_key,
    require_lifetime,
)
from burnin.storage.whole_file import writing_whole

PATH = "/api/v1/store/"  # where burnin.api.store answers
TORN = ".torn"  # no key begins with a dot
CHUNK_BYTES = 1 << 20


class TornUpload(Exception):
    """The content ended before its announced length. Nothing was kept."""


class Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


class LocalStore:
    """Objects are files below `root`, which is this store's alone."""

    def __init__(
        self,
        root: Path,
        *,
        public_url: str,
        signer: GrantSigner,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._root, self._public_url, self._signer, self._now = root, public_url, signer, now

    def upload_url(self, key: str, *, expires_s: int, max_bytes: int) -> str:
        return self._url("PUT", key, expires_s=expires_s, max_bytes=max_bytes)

    def download_url(self, key: str, *, expires_s: int, filename: str) -> str:
        return self._url("GET", key, expires_s=expires_s, filename=filename)

    def granted(self, method: Method, key: str, query: str) -> Grant:
        """Return what a URL of ours grants. Raises GrantRefused."""
        return self._signer.verify(method, key, query, now=self._now())

    def receive(self, key: str, source: Readable, *, size_bytes: int) -> None:
        """Take an upload: the whole of it becomes the object, or nothing does.

        Raises:
            TornUpload: it ended early.
        """
        with self._replacing(key) as file:
            left = size_bytes
            while left and (chunk := _next(source, left)):
                file.write(chunk)
                left -= len(chunk)
            if left:
                raise TornUpload(f"{left} of {size_bytes} bytes are missing: send it again")

    def open(self, key: str) -> IO[bytes]:
        """Open an object for reading. Raises ObjectMissing."""
        path = self._path(key)
        with self._errors(key):
            return path.open("rb")

    def sizes(self, directory: str) -> dict[str, int]:
        path = self._path(directory)
        try:
            with self._errors(directory), os.scandir(path) as found:
                return {each.name: each.stat().st_size for each in found if each.is_file()}
        except ObjectMissing:
            return {}

    def fetch(self, key: str, destination: Path, *, max_bytes: int) -> None:
        with self.open(key) as source:
            size_bytes = os.fstat(source.fileno()).st_size
            if size_bytes > max_bytes:
                raise ObjectTooLarge(f"{key} has {size_bytes} bytes, more than {max_bytes}")
            with writing_whole(destination) as target, self._errors(key):
                shutil.copyfileobj(source, target, CHUNK_BYTES)

    def read(self, key: str, *, offset: int, limit: int) -> bytes:
        with self.open(key) as file, self._errors(key):
            file.seek(offset)
            return file.read(limit)

    def copy(self, source: str, target: str) -> None:
        require_key(target)
        with self.open(source) as file, self._replacing(target) as copied:
            shutil.copyfileobj(file, copied, CHUNK_BYTES)

    def put(self, key: str, content: bytes) -> None:
        with self._replacing(key) as file:
            file.write(content)

    def probe(self) -> None:
        key = f"probe/{uuid.uuid4()}"
        self.put(key, b"probe")
        with self.open(key) as file, self._errors(key):
            found = file.read()
            self._path(key).unlink()
        if found != b"probe":
            raise StoreRefused(f"{self._root} gave back other bytes than were written")

    def _url(
        self, method: Method, key: str, *, expires_s: int, max_bytes: int = 0, filename: str = ""
    ) -> str:
        require_key(key)
        require_lifetime(expires_s)
        grant = Grant(method, key, int(self._now()) + expires_s, max_bytes, filename)
        return f"{self._public_url}{PATH}{key}?{self._signer.sign(grant)}"

    def _path(self, key: str) -> Path:
        require_key(key)
        return self._root / key

    @contextmanager
    def _replacing(self, key: str) -> Iterator[IO[bytes]]:
        """Yield a file that becomes the object when the block ends well, and is gone otherwise."""
        path = self._path(key)
        torn = self._root / TORN / str(uuid.uuid4())
        with self._errors(key):
            for directory in (self._root, torn.parent, path.parent):
                directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                with open(torn, "xb", opener=_private) as file:
                    yield file
                torn.replace(path)
            finally:
                torn.unlink(missing_ok=True)

    @contextmanager
    def _errors(self, key: str) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError as error:
            if not self._root.is_dir():  # not mounted, which must not read as "nothing came"
                raise StoreUnreachable(f"the store's {self._root} is not there") from error
            raise ObjectMissing(f"there is no object {key}") from error
        except (PermissionError, NotADirectoryError, IsADirectoryError, FileExistsError) as error:
            raise StoreRefused(f"{self._root} refuses {key}: {error.strerror}") from error
        except OSError as error:
            raise StoreUnreachable(f"{self._root} fails on {key}: {error.strerror}") from error


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _next(source: Readable, size_bytes: int) -> bytes:
    try:
        return source.read(min(CHUNK_BYTES, size_bytes))
    except OSError:  # the client has hung up, which is not the disk's fault
        return b""
