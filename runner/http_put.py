"""One PUT over HTTP/1.1. `http.client` reads `email` and `ssl` first, a quarter of our start."""

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
        is_whole = True
        try:
            for block in _request(parts, body, size_bytes):
                connection.sendall(block)
        except (BrokenPipeError, ConnectionResetError):
            is_whole = False  # who refuses may close without reading on: the answer says why
        with connection.makefile("rb") as answer:
            status = _status(answer)
    if status < 300 and not is_whole:
        raise NoAnswer("the store took a part of the file for the whole")
    return status


def _connected(parts: SplitResult, timeout_s: float) -> socket.socket:
    host = parts.hostname or ""
    try:
        plain = socket.create_connection((host, parts.port or PORTS[parts.scheme]), timeout_s)
    except UnicodeError:
        raise OSError("the store's address is no host name") from None
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
    """Return host and port as they were signed: in lower case, and without a usual port."""
    name = parts.hostname or ""
    host = f"[{name}]" if ":" in name else name
    return host if parts.port in (None, PORTS[parts.scheme]) else f"{host}:{parts.port}"


def _status(answer: IO[bytes]) -> int:
    """Return the final status; before it may come interim ones, each with its headers."""
    is_status = True
    for line in _lines(answer):
        if not is_status:
            is_status = not line.strip()
            continue
        version, _, rest = line.partition(b" ")
        code = rest[:4].strip()
        if not version.startswith(b"HTTP/1.") or len(code) != 3 or not code.isdigit():
            raise NoAnswer("the store's answer is not HTTP/1.1")
        if not code.startswith(b"1"):
            return int(code)
        is_status = False
    raise NoAnswer("the store closed the connection without an answer")


def _lines(answer: IO[bytes]) -> Iterator[bytes]:
    for _ in range(MOST_LINES):
        line = answer.readline(LONGEST_LINE_BYTES)
        if not line:
            return
        yield line
    raise NoAnswer("the store's answer has no end")
