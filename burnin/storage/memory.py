"""A store in memory, for tests of what uses one. It can be switched off."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from burnin.storage.grants import Grant, GrantRefused, GrantSigner, Method
from burnin.storage.store import (
    ObjectMissing,
    ObjectTooLarge,
    StoreUnreachable,
    require_key,
    require_lifetime,
)

BASE_URL = "memory://store/"


class MemoryStore:
    """Obeys ArtifactStore. `objects` may be looked at and changed by the test that owns it."""

    def __init__(self, *, now: Callable[[], float] = time.time) -> None:
        self.objects: dict[str, bytes] = {}
        self.is_reachable = True
        self._now = now
        self._signer = GrantSigner("not a secret: a store in memory dies with its process")

    def upload_url(self, key: str, *, expires_s: int, max_bytes: int) -> str:
        return self._url("PUT", key, expires_s=expires_s, max_bytes=max_bytes)

    def download_url(self, key: str, *, expires_s: int, filename: str) -> str:
        return self._url("GET", key, expires_s=expires_s, filename=filename)

    def receive(self, url: str, content: bytes) -> int:
        """Do what a node's PUT does, and return the HTTP status."""
        self._require_reachable()
        try:
            grant = self._signer.verify("PUT", *_parts(url), now=self._now())
        except GrantRefused:
            return 403
        if len(content) > grant.max_bytes:
            return 413
        self.objects[grant.key] = content
        return 201

    def send(self, url: str) -> tuple[int, bytes]:
        """Do what a browser's GET does, and return the HTTP status and the content."""
        self._require_reachable()
        try:
            grant = self._signer.verify("GET", *_parts(url), now=self._now())
        except GrantRefused:
            return 403, b""
        content = self.objects.get(grant.key)
        return (404, b"") if content is None else (200, content)

    def sizes(self, directory: str) -> dict[str, int]:
        self._require(directory)
        held = self.objects.copy()  # at once, while other threads write
        split = [(key.rpartition("/"), content) for key, content in held.items()]
        return {name: len(content) for (place, _, name), content in split if place == directory}

    def fetch(self, key: str, destination: Path, *, max_bytes: int) -> None:
        content = self._content(key)
        if len(content) > max_bytes:
            raise ObjectTooLarge(f"{key} has {len(content)} bytes, more than {max_bytes}")
        destination.write_bytes(content)

    def read(self, key: str, *, offset: int, limit: int) -> bytes:
        return self._content(key)[offset : offset + limit]

    def copy(self, source: str, target: str) -> None:
        require_key(target)
        self.objects[target] = self._content(source)

    def put(self, key: str, content: bytes) -> None:
        self._require(key)
        self.objects[key] = content

    def probe(self) -> None:
        self._require_reachable()

    def _url(
        self, method: Method, key: str, *, expires_s: int, max_bytes: int = 0, filename: str = ""
    ) -> str:
        require_key(key)
        require_lifetime(expires_s)
        grant = Grant(method, key, int(self._now()) + expires_s, max_bytes, filename)
        return f"{BASE_URL}{key}?{self._signer.sign(grant)}"

    def _content(self, key: str) -> bytes:
        self._require(key)
        try:
            return self.objects[key]
        except KeyError:
            raise ObjectMissing(f"there is no object {key}") from None

    def _require(self, key: str) -> None:
        require_key(key)
        self._require_reachable()

    def _require_reachable(self) -> None:
        if not self.is_reachable:
            raise StoreUnreachable("the store does not answer: this test has switched it off")


def _parts(url: str) -> tuple[str, str]:
    key, _, query = url.removeprefix(BASE_URL).partition("?")
    return key, query
