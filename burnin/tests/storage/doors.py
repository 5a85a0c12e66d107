"""The three stores, each with the door by which nodes and browsers come: URLs and nothing else."""

from __future__ import annotations

import http.client
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from django.test import Client

from burnin.storage.grants import GrantSigner
from burnin.storage.local import LocalStore
from burnin.storage.memory import MemoryStore
from burnin.storage.s3 import S3Config, S3Store
from burnin.storage.store import ArtifactStore
from deploy.cluster.testing import RealServices

SECRET = "a secret of the tests, and of nobody else"
PUBLIC_URL = "https://hub.example"
HOUR_S = 3600


class Door(Protocol):
    """`put` and `get` return the HTTP status, `get` also what was read."""

    @property
    def store(self) -> ArtifactStore: ...

    def put(self, url: str, content: bytes) -> int: ...

    def get(self, url: str) -> tuple[int, bytes]: ...

    def expired_upload_url(self, key: str) -> str:
        """Return a URL that was good until a moment ago."""
        ...


class MemoryDoor:
    def __init__(self) -> None:
        self.time = 1_700_000_000.0
        self.store = MemoryStore(now=lambda: self.time)

    def put(self, url: str, content: bytes) -> int:
        return self.store.receive(url, content)

    def get(self, url: str) -> tuple[int, bytes]:
        return self.store.send(url)

    def expired_upload_url(self, key: str) -> str:
        url = self.store.upload_url(key, expires_s=60, max_bytes=1000)
        self.time += 60
        return url


def local_store(root: Path, *, now: Callable[[], float] = time.time) -> LocalStore:
    return LocalStore(root, public_url=PUBLIC_URL, signer=GrantSigner(SECRET), now=now)


class LocalDoor:
    """Its URLs are answered by the hub's own views, whose settings name the same directory."""

    def __init__(self, root: Path) -> None:
        self.root, self.store = root, local_store(root)
        self._client = Client(raise_request_exception=True)

    def put(self, url: str, content: bytes) -> int:
        answer = self._client.generic(
            "PUT", _path(url), content, "application/octet-stream", CONTENT_LENGTH=str(len(content))
        )
        return answer.status_code

    def get(self, url: str) -> tuple[int, bytes]:
        answer = self._client.get(_path(url))
        return answer.status_code, b"".join(answer)

    def expired_upload_url(self, key: str) -> str:
        past = local_store(self.root, now=lambda: time.time() - HOUR_S)
        return past.upload_url(key, expires_s=HOUR_S, max_bytes=1000)


class S3Door:
    def __init__(self, services: RealServices) -> None:
        self.config = config_of(services)
        self.store = S3Store(self.config)

    def put(self, url: str, content: bytes) -> int:
        return _ask("PUT", url, content)[0]

    def get(self, url: str) -> tuple[int, bytes]:
        return _ask("GET", url, None)

    def expired_upload_url(self, key: str) -> str:
        past = S3Store(self.config, now=lambda: datetime.now(UTC) - timedelta(hours=2))
        return past.upload_url(key, expires_s=HOUR_S, max_bytes=1000)


def config_of(services: RealServices, **changes: str) -> S3Config:
    settings = {
        "bucket": services.s3_bucket,
        "region": services.s3_region,
        "key_id": services.s3_key_id,
        "secret": services.s3_secret,
        "endpoint": services.s3_endpoint,
    }
    return S3Config(**settings | changes)


def _path(url: str) -> str:
    assert url.startswith(f"{PUBLIC_URL}/api/v1/store/")
    return url.removeprefix(PUBLIC_URL)


def _ask(method: str, url: str, content: bytes | None) -> tuple[int, bytes]:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=20)
    try:
        connection.request(method, f"{parts.path}?{parts.query}", content)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()
