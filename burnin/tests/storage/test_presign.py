"""Our signature is botocore's, letter by letter."""

from datetime import UTC, datetime
from unittest import mock

import pytest
from botocore.auth import S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from hypothesis import given
from hypothesis import strategies as st

from burnin.storage.presign import Presigner

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


def botocores(presigner: Presigner, path: str, expires_s: int, moment: datetime) -> str:
    """Return botocore's URL for the same. It takes no clock, so its own is replaced."""
    naive = moment.replace(tzinfo=None)
    request = AWSRequest("PUT", f"{presigner.endpoint}{path}")
    credentials = Credentials(presigner.key_id, presigner.secret)
    with mock.patch("botocore.auth.get_current_datetime", lambda remove_tzinfo=True: naive):
        signer = S3SigV4QueryAuth(credentials, "s3", presigner.region, expires=expires_s)
        signer.add_auth(request)
    return str(request.url)


@pytest.mark.parametrize("endpoint", ENDPOINTS)
def test_at_every_kind_of_endpoint(endpoint: str) -> None:
    presigner = Presigner(endpoint, "us-east-1", "AKEXAMPLE", "secret")

    url = presigner.put("/artifacts/incoming/east/a.1/stdout.txt", expires_s=600, now=NOW)

    assert url == botocores(presigner, "/artifacts/incoming/east/a.1/stdout.txt", 600, NOW)


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
    presigner = Presigner("https://store.example:9443", region, key_id, secret)
    path = "/" + "/".join(segments)

    url = presigner.put(path, expires_s=expires_s, now=moment)

    assert url == botocores(presigner, path, expires_s, moment)


def test_a_secret_does_not_show_when_printed_in_a_url() -> None:
    presigner = Presigner("https://store.example", "us-east-1", "AKEXAMPLE", "the-secret")

    assert "the-secret" not in presigner.put("/b/k", expires_s=60, now=NOW)
