"""A store in an S3 bucket. Upload URLs name the endpoint that nodes reach, not the hub's own."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import quote

import boto3
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    NoCredentialsError,
    PartialCredentialsError,
)
from storages.backends.s3 import S3Storage

from burnin.storage.presign import Presigner
from burnin.storage.store import (
    ObjectMissing,
    ObjectTooLarge,
    StoredObject,
    StoreRefused,
    StoreUnreachable,
    require_key,
    require_lifetime,
)
from burnin.storage.whole_file import writing_whole

CHUNK_BYTES = 1 << 20
NOT_THERE = frozenset({"404", "NoSuchKey", "NotFound"})
TRY_LATER = frozenset({"SlowDown", "RequestTimeout", "Throttling", "RequestLimitExceeded"})
CLIENT = Config(
    signature_version="s3v4",
    s3={"addressing_style": "path"},
    # boto3's newer default adds checksums that many S3 servers refuse.
    request_checksum_calculation="when_required",
    response_checksum_validation="when_required",
    connect_timeout=5,
    read_timeout=30,
    retries={"mode": "standard", "total_max_attempts": 3},
    max_pool_connections=32,
)


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
    def public_endpoint(self) -> str:
        aws = f"https://s3.{self.region}.amazonaws.com"
        return (self.node_endpoint or self.endpoint or aws).rstrip("/")


def _utc_now() -> datetime:
    return datetime.now(UTC)


class S3Store:
    """One client for all threads; nothing is contacted before the first use."""

    def __init__(self, config: S3Config, *, now: Callable[[], datetime] = _utc_now) -> None:
        self._config, self._now = config, now
        self._presigner = Presigner(
            config.public_endpoint, config.region, config.key_id, config.secret
        )

    def upload_url(self, key: str, *, expires_s: int, max_bytes: int) -> str:
        del max_bytes  # a signature cannot cap what it does not know the length of
        require_key(key)
        require_lifetime(expires_s)
        path = f"/{self._config.bucket}/{key}"
        return self._presigner.put(path, expires_s=expires_s, now=self._now())

    def download_url(self, key: str, *, expires_s: int, filename: str) -> str:
        require_key(key)
        require_lifetime(expires_s)
        shown = {"ResponseContentDisposition": f"attachment; filename*=UTF-8''{quote(filename)}"}
        return str(self._links.url(key, parameters=shown, expire=expires_s))

    def head(self, key: str) -> StoredObject | None:
        try:
            with self._errors(key):
                found = self._client.head_object(Bucket=self._config.bucket, Key=key)
        except ObjectMissing:
            self._require_bucket()
            return None
        return StoredObject(key, int(found["ContentLength"]))

    def fetch(self, key: str, destination: Path, *, max_bytes: int) -> None:
        """The size is that of the very answer whose content follows: nobody swaps it between."""
        with self._errors(key):
            found = self._client.get_object(Bucket=self._config.bucket, Key=key)
        size_bytes = int(found["ContentLength"])
        with closing(found["Body"]) as body:  # `with` on the body itself skips its checks
            if size_bytes > max_bytes:
                raise ObjectTooLarge(f"{key} has {size_bytes} bytes, more than {max_bytes}")
            with writing_whole(destination) as target, self._errors(key):
                shutil.copyfileobj(body, target, CHUNK_BYTES)

    def copy(self, source: str, target: str) -> None:
        require_key(target)
        bucket = self._config.bucket
        with self._errors(source):
            self._client.copy_object(
                Bucket=bucket, Key=target, CopySource={"Bucket": bucket, "Key": source}
            )

    def put(self, key: str, content: bytes) -> None:
        with self._errors(key):
            self._client.put_object(Bucket=self._config.bucket, Key=key, Body=content)

    def probe(self) -> None:
        key = f"probe/{uuid.uuid4()}"
        self.put(key, b"probe")
        with self._errors(key):
            found = self._client.get_object(Bucket=self._config.bucket, Key=key)["Body"].read()
            self._client.delete_object(Bucket=self._config.bucket, Key=key)
        if found != b"probe":
            raise StoreRefused(f"bucket {self._config.bucket} gave back other bytes than written")

    @cached_property
    def _client(self) -> Any:
        return boto3.client(
            "s3",
            endpoint_url=self._config.endpoint or None,
            region_name=self._config.region,
            aws_access_key_id=self._config.key_id,
            aws_secret_access_key=self._config.secret,
            config=CLIENT,
        )

    @cached_property
    def _links(self) -> S3Storage:
        """django-storages makes the links that people follow."""
        return S3Storage(
            bucket_name=self._config.bucket,
            endpoint_url=self._config.public_endpoint,
            region_name=self._config.region,
            access_key=self._config.key_id,
            secret_key=self._config.secret,
            client_config=CLIENT,
        )

    def _require_bucket(self) -> None:
        """HEAD says 404 of a bucket that is not there, too; that must never read as "no file"."""
        bucket = self._config.bucket
        try:
            with self._errors(bucket):
                self._client.head_bucket(Bucket=bucket)
        except ObjectMissing:
            raise StoreRefused(f"there is no bucket {bucket} at {self._place}") from None

    @property
    def _place(self) -> str:
        return self._config.endpoint or f"AWS in {self._config.region}"

    @contextmanager
    def _errors(self, key: str) -> Iterator[None]:
        require_key(key)
        try:
            yield
        except ClientError as error:
            self._explain(error, key)
        except (NoCredentialsError, PartialCredentialsError) as error:
            raise StoreRefused(f"the hub has no keys for the store: {error}") from error
        except (BotoCoreError, OSError) as error:
            raise StoreUnreachable(
                f"the store at {self._place} does not answer: {error}"
            ) from error

    def _explain(self, error: ClientError, key: str) -> NoReturn:
        code = str(error.response.get("Error", {}).get("Code", ""))
        status = int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
        if code in NOT_THERE:
            raise ObjectMissing(f"there is no object {key}") from error
        if status >= 500 or status == 429 or code in TRY_LATER:
            raise StoreUnreachable(f"the store at {self._place} fails: {error}") from error
        raise StoreRefused(f"the store at {self._place} refuses {key}: {error}") from error
