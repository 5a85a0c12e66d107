"""The requests that a store in S3 makes, over urllib3: a fraction of the CPU of boto3's client."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from types import MappingProxyType
from typing import NoReturn
from urllib.parse import quote
from xml.etree import ElementTree

import urllib3
from urllib3.exceptions import HTTPError

from burnin.storage.signature import Signer
from burnin.storage.store import ObjectMissing, StoreRefused, StoreUnreachable

NOT_THERE = frozenset({"NoSuchKey", "NotFound"})
TRY_LATER = frozenset(
    {"SlowDown", "RequestTimeout", "Throttling", "RequestLimitExceeded", "InternalError"}
    | {"ServiceUnavailable"}
)
FAILING = frozenset({429, 500, 502, 503, 504})
BEYOND_THE_END = 416
LONGEST_WORDS = 4096
# A connection the server has closed meanwhile is tried again, and a server that is overloaded.
RETRY = urllib3.Retry(
    total=2,
    backoff_factor=0.5,
    status_forcelist=FAILING,
    allowed_methods=None,  # each request here may be made twice
    redirect=0,
    raise_on_status=False,
    raise_on_redirect=False,
)
PATIENCE = urllib3.Timeout(connect=5, read=30)
CONNECTIONS = 32
NOTHING: Mapping[str, str] = MappingProxyType({})

_CODE = re.compile(rb"<Code>([A-Za-z0-9.]{1,64})</Code>")


class BeyondTheEnd(Exception):
    """The object ends before the bytes that were asked for."""


class S3Requests:
    """One pool of connections for all threads. `bucket` is part of every path.

    Each method raises StoreUnreachable, StoreRefused or ObjectMissing.
    """

    def __init__(self, signer: Signer, bucket: str) -> None:
        self._signer, self._bucket = signer, bucket
        self._pool = urllib3.connection_from_url(
            signer.endpoint, maxsize=CONNECTIONS, timeout=PATIENCE, retries=RETRY
        )

    def sizes(self, prefix: str) -> dict[str, int]:
        """Return the size in bytes of what stands directly below a prefix, by its last name."""
        answer = self._ask("GET", "", query=f"list-type=2&prefix={quote(prefix, safe='-_.~')}")
        try:
            listing = ElementTree.fromstring(answer.data)
            found = {
                each.findtext("{*}Key", "").removeprefix(prefix): int(each.findtext("{*}Size", ""))
                for each in listing.iterfind("{*}Contents")
            }
        except (ElementTree.ParseError, ValueError):
            raise StoreRefused(f"the store at {self.place} sends no list of objects") from None
        if listing.findtext("{*}IsTruncated") == "true":
            raise StoreRefused(f"there are more objects below {prefix} than one answer can hold")
        return {name: size_bytes for name, size_bytes in found.items() if "/" not in name}

    @contextmanager
    def get(
        self, key: str, headers: Mapping[str, str] = NOTHING
    ) -> Iterator[tuple[int, urllib3.BaseHTTPResponse]]:
        """Yield the length in bytes and the answer, whose content can be read in the block."""
        answer = self._ask("GET", key, headers=headers, preload_content=False)
        try:
            with self._reached():
                yield self._length(answer, key), answer
                # Reading on would wait for what the caller did not want.
                is_read = answer.length_remaining == 0
            answer.release_conn() if is_read else answer.close()
        except BaseException:
            answer.close()
            raise

    def put(self, key: str, content: bytes) -> None:
        self._ask("PUT", key, body=content)

    def copy(self, source: str, target: str) -> None:
        """S3 may say 200 first and report the error in what follows."""
        origin = {"x-amz-copy-source": f"/{self._bucket}/{source}"}
        answer = self._ask("PUT", target, headers=origin, about=source)
        if b"<CopyObjectResult" not in answer.data:
            self._explain(answer, source)

    def delete(self, key: str) -> None:
        self._ask("DELETE", key)

    @property
    def place(self) -> str:
        return self._signer.endpoint

    def _ask(
        self,
        method: str,
        key: str,
        *,
        headers: Mapping[str, str] = NOTHING,
        query: str = "",
        body: bytes = b"",
        preload_content: bool = True,
        about: str = "",
    ) -> urllib3.BaseHTTPResponse:
        path = f"/{self._bucket}/{key}" if key else f"/{self._bucket}"
        signed = self._signer.headers(
            method, path, now=datetime.now(UTC), query=query, body=body, own=headers
        )
        with self._reached():
            answer = self._pool.urlopen(
                method,
                f"{path}?{query}" if query else path,
                body=body or None,
                headers=signed,
                redirect=False,
                preload_content=preload_content,
                decode_content=False,
            )
        if answer.status >= 300:
            self._explain(answer, about or key)
        return answer

    def _length(self, answer: urllib3.BaseHTTPResponse, key: str) -> int:
        length: str = answer.headers.get("Content-Length", "")
        if not length.isdecimal():
            raise StoreRefused(f"the store at {self.place} does not say how long {key} is")
        return int(length)

    @contextmanager
    def _reached(self) -> Iterator[None]:
        try:
            yield
        except (HTTPError, OSError) as error:
            words = f"the store at {self.place} does not answer: {_cause(error)}"
            raise StoreUnreachable(words) from error

    def _explain(self, answer: urllib3.BaseHTTPResponse, key: str) -> NoReturn:
        with self._reached():
            said = answer.read(LONGEST_WORDS) if answer.length_remaining else answer.data
        answer.close()
        found = _CODE.search(said[:LONGEST_WORDS])
        code = found[1].decode() if found else ""
        words = f"{answer.status} {code or answer.reason or ''}".rstrip()
        if code in NOT_THERE or (answer.status == 404 and not code):
            raise ObjectMissing(f"there is no object {key}")
        if answer.status == BEYOND_THE_END:
            raise BeyondTheEnd(f"{key} has no such bytes")
        if answer.status in FAILING or answer.status >= 500 or code in TRY_LATER:
            raise StoreUnreachable(f"the store at {self.place} fails: {words}")
        raise StoreRefused(f"the store at {self.place} refuses {key or self._bucket}: {words}")


def _cause(error: Exception) -> str:
    """Return what went wrong at last, without the pool's words about itself."""
    reason = getattr(error, "reason", None)
    inner = reason if isinstance(reason, Exception) else error
    return str(inner).rpartition(": ")[2] or type(inner).__name__
