"""One PUT, against servers that answer in every way HTTP lets them, and some that it does not."""

from __future__ import annotations

import io
import socket
import ssl
import subprocess
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from runner.http_put import NoAnswer, put

BODY = b"0123456789" * 100_000


class Conversation:
    """One connection: what the client said until its body ended, then what it is told."""

    def __init__(self, answer: bytes, *, trust: ssl.SSLContext | None = None) -> None:
        self._answer, self._trust = answer, trust
        self.head, self.body = "", b""
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._accept)

    def _accept(self) -> None:
        plain, _ = self._listener.accept()
        with suppress(ssl.SSLError):  # of a client that does not trust us
            self._converse(plain)

    def _converse(self, plain: socket.socket) -> None:
        with self._trust.wrap_socket(plain, server_side=True) if self._trust else plain as client:
            with client.makefile("rb") as said:
                self.head = "".join(line.decode() for line in iter(said.readline, b"\r\n"))
                self.body = said.read(int(self.header("Content-Length")))
            client.sendall(self._answer)

    def header(self, name: str) -> str:
        lines = [line.partition(": ") for line in self.head.splitlines()]
        (value,) = [value for key, _, value in lines if key == name]
        return value

    def __enter__(self) -> Conversation:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.join(10)
        self._listener.close()


def send(url: str, body: bytes = BODY) -> int:
    return put(url, io.BytesIO(body), len(body), timeout_s=5)


def test_the_request_is_what_was_presigned() -> None:
    with Conversation(b"HTTP/1.1 200 OK\r\n\r\n") as store:
        assert send(f"http://127.0.0.1:{store.port}/b/k%20y?X-Sig=a%2Fb&x=1") == 200

    assert store.head.startswith("PUT /b/k%20y?X-Sig=a%2Fb&x=1 HTTP/1.1\r\n")
    assert store.header("Host") == f"127.0.0.1:{store.port}"
    assert store.body == BODY


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://store.example:80/k", "store.example"),
        ("https://store.example:443/k", "store.example"),
        ("https://store.example:80/k", "store.example:80"),
        ("http://MinIO.lan:9000/k", "minio.lan:9000"),
        ("http://store.example:/k", "store.example"),
        ("http://[::1]/k", "[::1]"),
        ("http://[::1]:9000/k", "[::1]:9000"),
    ],
)
def test_a_usual_port_is_not_named(monkeypatch: pytest.MonkeyPatch, url: str, host: str) -> None:
    ours, theirs = socket.socketpair()
    monkeypatch.setattr("runner.http_put._connected", lambda _parts, _timeout_s: ours)
    theirs.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")

    assert send(url, b"x") == 204
    assert f"\r\nHost: {host}\r\n" in theirs.recv(1 << 16).decode()
    theirs.close()


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 403 Forbidden\r\nContent-Length: 3\r\n\r\nno!",
        b"HTTP/1.0 403\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 403 No\r\n",
        b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 403 No\r\n",
    ],
)
def test_the_final_status_counts(answer: bytes) -> None:
    with Conversation(answer) as store:
        assert send(f"http://127.0.0.1:{store.port}/k") == 403


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (b"", "closed the connection without an answer"),
        (b"HTTP/1.1 100 Continue\r\n\r\n", "closed the connection without an answer"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "is not HTTP/1.1"),
        (b"HTTP/1.1 OK\r\n\r\n", "is not HTTP/1.1"),
        (b"HTTP/2 200\r\n\r\n", "is not HTTP/1.1"),
        (b"HTTP/1.1 20 OK\r\n\r\n", "is not HTTP/1.1"),
        (b"HTTP/1.1 1000\r\n\r\n", "is not HTTP/1.1"),
        (b"HTTP/1.1 " + b"2" * 5000 + b"\r\n\r\n", "is not HTTP/1.1"),
        (b"x" * 200_000, "is not HTTP/1.1"),
        (b"HTTP/1.1 100 Continue\r\n\r\n" * 2000, "has no end"),
        (b"HTTP/1.1 100\r\n" + b"a: b\r\n" * 2000, "has no end"),
    ],
)
def test_what_is_no_answer_is_an_error(answer: bytes, sentence: str) -> None:
    with Conversation(answer) as store, pytest.raises(NoAnswer, match=sentence):
        send(f"http://127.0.0.1:{store.port}/k")


@pytest.mark.parametrize("host", ["a..b", "a" * 64 + ".example"])
def test_what_is_no_host_name_is_an_error_of_the_network(host: str) -> None:
    with pytest.raises(OSError, match="the store's address is no host name"):
        send(f"http://{host}/k")


def test_a_file_that_became_shorter_is_not_sent_as_if_whole() -> None:
    with Conversation(b"HTTP/1.1 200 OK\r\n\r\n") as store, pytest.raises(OSError, match="shorter"):
        put(f"http://127.0.0.1:{store.port}/k", io.BytesIO(b"half"), 8, timeout_s=5)

    assert store.body == b"half"


def test_a_file_that_grew_is_sent_up_to_the_size_that_was_told() -> None:
    with Conversation(b"HTTP/1.1 200 OK\r\n\r\n") as store:
        put(f"http://127.0.0.1:{store.port}/k", io.BytesIO(BODY), 10, timeout_s=5)

    assert store.body == BODY[:10]


@pytest.mark.parametrize("answer", [b"HTTP/1.1 200 OK\r\n\r\n", b"HTTP/1.1 403 No\r\n\r\n"])
def test_a_part_is_never_taken_for_the_whole(
    monkeypatch: pytest.MonkeyPatch, answer: bytes
) -> None:
    """The answer to a file of which the store has not read all is heard only if it is no."""
    ours, theirs = socket.socketpair()
    monkeypatch.setattr("runner.http_put._connected", lambda _parts, _timeout_s: ours)
    theirs.sendall(answer)
    theirs.shutdown(socket.SHUT_RD)  # what we send breaks the pipe

    if b"200" in answer:
        with pytest.raises(NoAnswer, match="a part of the file for the whole"):
            send("http://store.example/k")
    else:
        assert send("http://store.example/k") == 403
    theirs.close()


def test_a_store_is_trusted_by_the_certificates_of_the_node(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trust, certificate = certified(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))

    with Conversation(b"HTTP/1.1 200 OK\r\n\r\n", trust=trust) as store:
        assert send(f"https://localhost:{store.port}/k") == 200

    assert store.body == BODY


@pytest.mark.parametrize(("host", "is_vouched_for"), [("localhost", False), ("127.0.0.1", True)])
def test_a_store_that_is_another_gets_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host: str, *, is_vouched_for: bool
) -> None:
    trust, certificate = certified(tmp_path)
    if is_vouched_for:
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))

    with (
        Conversation(b"HTTP/1.1 200 OK\r\n\r\n", trust=trust) as store,
        pytest.raises(ssl.SSLCertVerificationError),
    ):
        send(f"https://{host}:{store.port}/k")

    assert store.head == ""


def certified(directory: Path) -> tuple[ssl.SSLContext, Path]:
    """Return what serves as `localhost` by TLS, and the certificate that vouches for it."""
    key, certificate = directory / "key.pem", directory / "certificate.pem"
    make = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    files = ["-nodes", "-days", "2", "-keyout", str(key), "-out", str(certificate)]
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    subprocess.run([*make, *files, *subject], check=True, capture_output=True, timeout=60)
    trust = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trust.load_cert_chain(certificate, key)
    return trust, certificate
