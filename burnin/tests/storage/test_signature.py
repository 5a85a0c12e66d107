"""Our signature is botocore's, letter by letter."""

from datetime import UTC, datetime
from unittest import mock

import pytest
from botocore.auth import S3SigV4Auth, S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from hypothesis import given
from hypothesis import strategies as st

from burnin.storage.signature import Signer

NOW = datetime(2026, 3, 1, 12, 30, 5, tzinfo=UTC)
ENDPOINTS = (
    "http://127.0.0.1:9000",
    "https://store.example",
    "https://store.example:443",
    "http://store.example:80",
    "http://store.example:443",
    "https://Store.Example:9443",
    "https://s3.eu-central-1.amazonaws.com",
)
WORDS = st.text(st.characters(codec="ascii", min_codepoint=33, max_codepoint=126), min_size=1)
SEGMENTS = st.text("ABCxyz019._-", min_size=1, max_size=20).filter(lambda text: text[0] != ".")


def botocores(signer: Signer, path: str, expires_s: int, moment: datetime) -> str:
    """Return botocore's URL for the same. It takes no clock, so its own is replaced."""
    naive = moment.replace(tzinfo=None)
    request = AWSRequest("PUT", f"{signer.endpoint}{path}")
    credentials = Credentials(signer.key_id, signer.secret)
    with mock.patch("botocore.auth.get_current_datetime", lambda remove_tzinfo=True: naive):
        S3SigV4QueryAuth(credentials, "s3", signer.region, expires=expires_s).add_auth(request)
    return str(request.url)


@pytest.mark.parametrize("endpoint", ENDPOINTS)
def test_at_every_kind_of_endpoint(endpoint: str) -> None:
    signer = Signer(endpoint, "us-east-1", "AKEXAMPLE", "secret")

    url = signer.put("/artifacts/incoming/east/a.1/stdout.txt", expires_s=600, now=NOW)

    assert url == botocores(signer, "/artifacts/incoming/east/a.1/stdout.txt", 600, NOW)


@given(
    key_id=WORDS,
    secret=WORDS,
    region=st.sampled_from(["us-east-1", "eu-central-1", "local"]),
    segments=st.lists(SEGMENTS, min_size=2, max_size=5),
    expires_s=st.integers(1, 604800),
    moment=st.datetimes(datetime(2020, 1, 1), datetime(2099, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001
)
def test_whatever_is_signed(
    key_id: str, secret: str, region: str, segments: list[str], expires_s: int, moment: datetime
) -> None:
    signer = Signer("https://store.example:9443", region, key_id, secret)
    path = "/" + "/".join(segments)

    url = signer.put(path, expires_s=expires_s, now=moment)

    assert url == botocores(signer, path, expires_s, moment)


def botocores_headers(signer: Signer, request: AWSRequest) -> dict[str, str]:
    naive = NOW.replace(tzinfo=None)
    credentials = Credentials(signer.key_id, signer.secret)
    request.context["payload_signing_enabled"] = True
    with mock.patch("botocore.auth.get_current_datetime", lambda remove_tzinfo=True: naive):
        S3SigV4Auth(credentials, "s3", signer.region).add_auth(request)
    return {name.lower(): str(value) for name, value in request.headers.items()}


@pytest.mark.parametrize("endpoint", ENDPOINTS)
@pytest.mark.parametrize(
    ("method", "query", "body", "own"),
    [
        ("GET", "", b"", {}),
        ("GET", "list-type=2&prefix=incoming%2Feast%2Fa.1%2F", b"", {}),
        ("GET", "", b"", {"range": "bytes=0-99"}),
        ("PUT", "", b"", {"x-amz-copy-source": "/b/incoming/east/a.1/stdout.txt"}),
        ("PUT", "", b"what is put", {}),
        ("DELETE", "", b"", {}),
    ],
    ids=["get", "list", "part", "copy", "put", "delete"],
)
def test_the_headers_of_a_request(
    endpoint: str, method: str, query: str, body: bytes, own: dict[str, str]
) -> None:
    signer = Signer(endpoint, "us-east-1", "AKEXAMPLE", "secret")
    url = f"{endpoint}/b/k" + (f"?{query}" if query else "")

    headers = signer.headers(method, "/b/k", now=NOW, query=query, body=body, own=own)

    request = AWSRequest(method, url, headers=dict(own), data=body)
    assert headers == botocores_headers(signer, request)


def test_a_secret_does_not_show_when_printed_in_a_url() -> None:
    signer = Signer("https://store.example", "us-east-1", "AKEXAMPLE", "the-secret")

    assert "the-secret" not in signer.put("/b/k", expires_s=60, now=NOW)
