"""What only S3 does: signatures that anyone can recompute, and a network in between."""

import hashlib
import hmac
import socket
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from urllib3 import Timeout

from burnin.storage import s3_requests
from burnin.storage.s3 import S3Config, S3Store
from burnin.storage.store import ObjectMissing, StoreRefused, StoreUnreachable
from burnin.tests.storage.doors import S3Door, config_of
from deploy.cluster.testing import RealServices

NOW = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
OFFLINE = S3Config(
    bucket="artifacts",
    region="eu-central-1",
    key_id="AKEXAMPLE",
    secret="secret/of+nobody",
    endpoint="http://10.0.0.1:9000",
    node_endpoint="https://store.example:9443/",
)


def recomputed(url: str, method: str, config: S3Config) -> str:
    """Return the signature that this URL should carry, by AWS's recipe and without AWS's code."""
    parts = urlsplit(url)
    query = {name: values[0] for name, values in parse_qs(parts.query).items()}
    query.pop("X-Amz-Signature")
    canonical_query = "&".join(
        f"{quote(name, safe='-_.~')}={quote(query[name], safe='-_.~')}" for name in sorted(query)
    )
    request = "\n".join(
        [
            method,
            parts.path,
            canonical_query,
            f"host:{parts.netloc}",
            "",
            "host",
            "UNSIGNED-PAYLOAD",
        ]
    )
    date, scope = query["X-Amz-Date"], query["X-Amz-Credential"].partition("/")[2]
    digest = hashlib.sha256(request.encode()).hexdigest()
    to_sign = "\n".join(["AWS4-HMAC-SHA256", date, scope, digest])
    key = f"AWS4{config.secret}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    return hmac.new(key, to_sign.encode(), "sha256").hexdigest()


def signature(url: str) -> str:
    return parse_qs(urlsplit(url).query)["X-Amz-Signature"][0]


def test_an_upload_url_carries_the_signature_that_aws_describes() -> None:
    store = S3Store(OFFLINE, now=lambda: NOW)

    url = store.upload_url("incoming/a_b-c/1.txt", expires_s=600, max_bytes=1)

    query = parse_qs(urlsplit(url).query)
    assert signature(url) == recomputed(url, "PUT", OFFLINE)
    assert query["X-Amz-Date"] == ["20260301T123000Z"]
    assert query["X-Amz-Expires"] == ["600"]
    assert query["X-Amz-Credential"] == ["AKEXAMPLE/20260301/eu-central-1/s3/aws4_request"]


def test_a_download_link_carries_it_too_and_names_the_file() -> None:
    url = S3Store(OFFLINE).download_url("a/b.txt", expires_s=600, filename='größe "1".txt')

    query = parse_qs(urlsplit(url).query)
    assert signature(url) == recomputed(url, "GET", OFFLINE)
    assert query["response-content-disposition"] == [
        "attachment; filename*=UTF-8''gr%C3%B6%C3%9Fe%20%221%22.txt"
    ]


def test_urls_name_the_endpoint_that_nodes_reach() -> None:
    store = S3Store(OFFLINE)

    upload = store.upload_url("a", expires_s=60, max_bytes=1)
    download = store.download_url("a", expires_s=60, filename="a")

    assert upload.startswith("https://store.example:9443/artifacts/a?")
    assert download.startswith("https://store.example:9443/artifacts/a?")


def test_without_endpoints_urls_name_awss_own() -> None:
    aws = S3Config(bucket="b", region="eu-central-1", key_id="k", secret="s")

    url = S3Store(aws).upload_url("a", expires_s=60, max_bytes=1)

    assert url.startswith("https://s3.eu-central-1.amazonaws.com/b/a?")


def test_urls_are_made_while_the_store_is_away() -> None:
    store = S3Store(OFFLINE)

    assert store.upload_url("a", expires_s=60, max_bytes=1)


def test_a_secret_never_shows_in_a_url() -> None:
    url = S3Store(OFFLINE).upload_url("a", expires_s=60, max_bytes=1)

    assert OFFLINE.secret not in url
    assert quote(OFFLINE.secret, safe="") not in url


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the requests give up at once: what it does then is what the test is about."""
    monkeypatch.setattr(s3_requests, "PATIENCE", Timeout(connect=2, read=0.5))
    monkeypatch.setattr(s3_requests, "RETRY", s3_requests.RETRY.new(total=0))


def every_use(store: S3Store, destination: Path) -> Iterator[object]:
    yield lambda: store.sizes("a")
    yield lambda: store.fetch("a", destination, max_bytes=100)
    yield lambda: store.copy("a", "b")
    yield lambda: store.put("a", b"x")
    yield store.probe


def closed_port() -> int:
    with socket.socket() as once:
        once.bind(("127.0.0.1", 0))
        return int(once.getsockname()[1])


@contextmanager
def answering(answer: bytes) -> Iterator[str]:
    """A server that says this to everyone, and then hangs up; nothing at all if it is empty."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(20)
        talked = threading.Thread(target=_talk, args=(server, answer), daemon=True)
        talked.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)  # wakes whoever waits for a client
        talked.join(timeout=20)


def _talk(server: socket.socket, answer: bytes) -> None:
    held = []
    while True:
        try:
            client, _ = server.accept()
        except OSError:
            break
        held.append(client)
        if answer:
            client.recv(65536)
            client.sendall(answer)
            client.close()
    for client in held:
        client.close()


@pytest.mark.usefixtures("impatient")
def test_a_store_that_is_away_is_unreachable(tmp_path: Path) -> None:
    endpoint = f"http://127.0.0.1:{closed_port()}"
    store = S3Store(S3Config("b", "us-east-1", "k", "s", endpoint=endpoint))

    for use in every_use(store, tmp_path / "x"):
        assert callable(use)
        with pytest.raises(StoreUnreachable, match=f"the store at {endpoint} does not answer"):
            use()


@pytest.mark.usefixtures("impatient")
def test_a_store_that_says_nothing_is_unreachable() -> None:
    with answering(b"") as endpoint:
        store = S3Store(S3Config("b", "us-east-1", "k", "s", endpoint=endpoint))

        with pytest.raises(StoreUnreachable, match="does not answer: Read timed out"):
            store.sizes("a")


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (b"HTTP/1.1 503 Slow\r\nContent-Length: 0\r\n\r\n", StoreUnreachable),
        (b"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n", StoreUnreachable),
        (b"HTTP/1.1 429 Slow\r\nContent-Length: 0\r\n\r\n", StoreUnreachable),
        (b"HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n", StoreRefused),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nten bytes.", StoreUnreachable),
        (b"not HTTP at all\r\n\r\n", StoreUnreachable),
    ],
)
def test_what_the_store_answers_decides_whether_to_try_again(
    tmp_path: Path, answer: bytes, error: type[Exception]
) -> None:
    with answering(answer) as endpoint:
        store = S3Store(S3Config("b", "us-east-1", "k", "s", endpoint=endpoint))

        with pytest.raises(error):
            store.fetch("a", tmp_path / "fetched", max_bytes=100)

    assert list(tmp_path.iterdir()) == []


def answer_of(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"abc", "sends no list"),
        (b"<R><Contents><Key>a/b</Key></Contents></R>", "sends no list"),
        (b"<R><IsTruncated>true</IsTruncated></R>", "more objects below a/"),
    ],
)
def test_a_list_that_cannot_be_whole_is_never_an_empty_one(body: bytes, words: str) -> None:
    with answering(answer_of(body)) as endpoint:
        store = S3Store(S3Config("b", "us-east-1", "k", "s", endpoint=endpoint))

        with pytest.raises(StoreRefused, match=words):
            store.sizes("a")


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    ("body", "error"),
    [
        (b"<Error><Code>NoSuchKey</Code></Error>", ObjectMissing),
        (b"<Error><Code>SlowDown</Code></Error>", StoreUnreachable),
        (b"", StoreRefused),
    ],
)
def test_a_copy_that_fails_after_it_said_200_has_failed(
    body: bytes, error: type[Exception]
) -> None:
    with answering(answer_of(body)) as endpoint:
        store = S3Store(S3Config("b", "us-east-1", "k", "s", endpoint=endpoint))

        with pytest.raises(error):
            store.copy("a", "b")


def test_wrong_keys_are_refused(services: RealServices, tmp_path: Path) -> None:
    store = S3Store(config_of(services, secret="wrong"))

    for use in every_use(store, tmp_path / "x"):
        assert callable(use)
        with pytest.raises(StoreRefused):
            use()


def test_a_bucket_that_is_not_there_is_never_an_empty_one(
    services: RealServices, tmp_path: Path
) -> None:
    store = S3Store(config_of(services, bucket="nowhere"))

    for use in every_use(store, tmp_path / "x"):
        assert callable(use)
        with pytest.raises(StoreRefused):
            use()


def test_a_probe_leaves_nothing_behind(s3_door: S3Door, monkeypatch: pytest.MonkeyPatch) -> None:
    name = uuid.uuid4()  # the store is also that of others, whose probes are theirs to remove
    monkeypatch.setattr(uuid, "uuid4", lambda: name)

    s3_door.store.probe()

    with pytest.raises(ObjectMissing):
        s3_door.store.read(f"probe/{name}", offset=0, limit=1)
