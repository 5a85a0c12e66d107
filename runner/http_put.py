"""One PUT over HTTP/1.1. `http.client` reads `email` and `ssl` first: a quarter of our start."""

from __future__ import annotations

import os
import socket
from urllib.parse import urlsplit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import IO, Protocol
    from urllib.parse import SplitResult

    class Body(Protocol):
        def read(self, size: int) -> bytes: ...


PORTS = {"http": 80, "https": 443}
BLOCK_BYTES = 1 << 18
LONGEST_LINE_BYTES = 1 << 16
MOST_LINES = 1000


class NoAnswer(OSError):
    """What came back is no HTTP answer, or none came."""


def put(url: str, body: Body, size_bytes: int, *, timeout_s: float) -> int:
    """Send `size_bytes` of the body and return the status of the answer. Raises OSError.

    `url` is ASCII without spaces. `timeout_s` is how long the other side may do nothing.
    """
    parts = urlsplit(url)
    with _connected(parts, timeout_s) as connection:
        try:
            for block in _request(parts, body, size_bytes):
                connection.sendall(block)
        except (BrokenPipeError, ConnectionResetError):
            pass  # who refuses may close without reading on: the answer says why
        with connection.makefile("rb") as answer:
            return _status(answer)


def _connected(parts: SplitResult, timeout_s: float) -> socket.socket:
    host = parts.hostname or ""
    plain = socket.create_connection((host, parts.port or PORTS[parts.scheme]), timeout_s)
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if parts.scheme == "http":
        return plain
    import ssl

    try:
        trust = ssl.create_default_context(cafile=os.environ.get("SSL_CERT_FILE"))
        return trust.wrap_socket(plain, server_hostname=host)
    except BaseException:
        plain.close()
        raise


def _request(parts: SplitResult, body: Body, size_bytes: int) -> Iterator[bytes]:
    target = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
    yield (
        f"PUT {target} HTTP/1.1\r\n"
        f"Host: {_authority(parts)}\r\n"
        f"Content-Length: {size_bytes}\r\n"
        "Content-Type: application/octet-stream\r\n"
        "Connection: close\r\n\r\n"
    ).encode("ascii")
    left_bytes = size_bytes
    while left_bytes:
        block = body.read(min(left_bytes, BLOCK_BYTES))
        if not block:
            raise OSError("the file became shorter while it was sent")
        left_bytes -= len(block)
        yield block


def _authority(parts: SplitResult) -> str:
    """Return host and port as presigned: a signature covers them, without a port that is usual."""
    host, _, port = parts.netloc.rpartition(":")
    return host if port == str(PORTS[parts.scheme]) else parts.netloc


def _status(answer: IO[bytes]) -> int:
    """Return the final status; before it may come interim ones, each with its headers."""
    for _ in range(MOST_LINES):
        words = answer.readline(LONGEST_LINE_BYTES).split(None, 2)
        if not words:
            break
        if not words[0].startswith(b"HTTP/1.") or len(words) < 2 or not words[1].isdigit():
            raise NoAnswer("the store's answer is not HTTP/1.1")
        if not words[1].startswith(b"1"):
            return int(words[1])
        while answer.readline(LONGEST_LINE_BYTES).strip():
            pass
    raise NoAnswer("the store closed the connection without an answer")
