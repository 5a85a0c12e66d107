"""A store in an S3 bucket. Upload URLs name the endpoint that nodes reach, not the hub's own."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from urllib.parse import quote

from botocore.config import Config
from storages.backends.s3 import S3Storage

from burnin.storage.s3_requests import BeyondTheEnd, S3Requests
from burnin.storage.signature import Signer
from burnin.storage.store import (
    ObjectTooLarge,
    StoreRefused,
    require_key,
    require_lifetime,
)
from burnin.storage.whole_file import writing_whole

CHUNK_BYTES = 1 << 20
LINKS = Config(signature_version="s3v4", s3={"addressing_style": "path"})


@dataclass(frozen=True)
class S3Config:
    """An empty endpoint means AWS's own of the region."""

    bucket: str
    region: str
    key_id: str
    secret: str
    endpoint: str = ""  # as the hub reaches it
    node_endpoint: str = ""  # as nodes and browsers do

    @property
    def own_endpoint(self) -> str:
        return (self.endpoint or f"https://s3.{self.region}.amazonaws.com").rstrip("/")

    @property
    def public_endpoint(self) -> str:
        return (self.node_endpoint or self.own_endpoint).rstrip("/")


def _utc_now() -> datetime:
    return datetime.now(UTC)


class S3Store:
    """One pool of connections for all threads; nothing is contacted before the first use."""

    def __init__(self, config: S3Config, *, now: Callable[[], datetime] = _utc_now) -> None:
        self._config, self._now = config, now
        key = (config.region, config.key_id, config.secret)
        self._public = Signer(config.public_endpoint, *key)
        self._requests = S3Requests(Signer(config.own_endpoint, *key), config.bucket)

    def upload_url(self, key: str, *, expires_s: int, max_bytes: int) -> str:
        del max_bytes  # a signature cannot cap what it does not know the length of
        require_key(key)
        require_lifetime(expires_s)
        path = f"/{self._config.bucket}/{key}"
        return self._public.put(path, expires_s=expires_s, now=self._now())

    def download_url(self, key: str, *, expires_s: int, filename: str) -> str:
        require_key(key)
        require_lifetime(expires_s)
        shown = {"ResponseContentDisposition": f"attachment; filename*=UTF-8''{quote(filename)}"}
        return str(self._links.url(key, parameters=shown, expire=expires_s))

    def sizes(self, directory: str) -> dict[str, int]:
        require_key(directory)
        return self._requests.sizes(f"{directory}/")

    def fetch(self, key: str, destination: Path, *, max_bytes: int) -> None:
        """The size is that of the very answer whose content follows: nobody swaps it between."""
        require_key(key)
        with self._requests.get(key) as (size_bytes, answer):
            if size_bytes > max_bytes:
                raise ObjectTooLarge(f"{key} has {size_bytes} bytes, more than {max_bytes}")
            with writing_whole(destination) as target:
                shutil.copyfileobj(answer, target, CHUNK_BYTES)

    def read(self, key: str, *, offset: int, limit: int) -> bytes:
        require_key(key)
        if limit < 1:
            return b""
        span = {"range": f"bytes={offset}-{offset + limit - 1}"}
        try:
            with self._requests.get(key, span) as (_, answer):
                if "Content-Range" not in answer.headers:  # then it is the object's beginning
                    words = f"the store at {self._requests.place} gives no part of an object"
                    raise StoreRefused(words)
                return answer.read(limit)
        except BeyondTheEnd:
            return b""

    def copy(self, source: str, target: str) -> None:
        require_key(source)
        require_key(target)
        self._requests.copy(source, target)

    def put(self, key: str, content: bytes) -> None:
        require_key(key)
        self._requests.put(key, content)

    def probe(self) -> None:
        key = f"probe/{uuid.uuid4()}"
        self._requests.put(key, b"probe")
        with self._requests.get(key) as (_, answer):
            found = answer.read()
        self._requests.delete(key)
        if found != b"probe":
            raise StoreRefused(f"bucket {self._config.bucket} gave back other bytes than written")

    @cached_property
    def _links(self) -> S3Storage:
        """django-storages makes the links that people follow."""
        return S3Storage(
            bucket_name=self._config.bucket,
            endpoint_url=self._config.public_endpoint,
            region_name=self._config.region,
            access_key=self._config.key_id,
            secret_key=self._config.secret,
            client_config=LINKS,
        )
