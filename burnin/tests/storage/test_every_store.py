"""What each store does, in memory, in a directory, and on a real S3 server."""

import uuid
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest

from burnin.storage.store import (
    LONGEST_URL_S,
    ObjectMissing,
    ObjectTooLarge,
    incoming_key,
    kept_key,
)
from burnin.tests.storage.doors import Door
from runner.contract.wire import AttemptToken

REFUSED = {400, 403}  # S3 servers differ in which of the two they say


@pytest.fixture
def key() -> str:
    """A key that no other test uses: the S3 server is shared."""
    return incoming_key("east", AttemptToken(str(uuid.uuid4()), 1), "stdout.txt")


def upload_url(door: Door, key: str) -> str:
    return door.store.upload_url(key, expires_s=600, max_bytes=1000)


def size_of(door: Door, key: str) -> int | None:
    directory, _, name = key.rpartition("/")
    return door.store.sizes(directory).get(name)


def test_only_what_stands_directly_in_a_directory_is_listed(door: Door, key: str) -> None:
    directory = key.rpartition("/")[0]
    door.store.put(key, b"12345")
    door.store.put(f"{directory}/deeper/c.txt", b"1")
    door.store.put(f"{directory}0/c.txt", b"1")

    assert door.store.sizes(directory) == {"stdout.txt": 5}


def test_what_a_node_uploads_is_fetched(door: Door, key: str, tmp_path: Path) -> None:
    status = door.put(upload_url(door, key), b"hello\0world\n")

    door.store.fetch(key, tmp_path / "fetched", max_bytes=12)

    assert status in {200, 201}
    assert (tmp_path / "fetched").read_bytes() == b"hello\0world\n"


def test_an_empty_object_is_an_object(door: Door, key: str, tmp_path: Path) -> None:
    door.put(upload_url(door, key), b"")

    door.store.fetch(key, tmp_path / "fetched", max_bytes=0)

    assert size_of(door, key) == 0
    assert (tmp_path / "fetched").read_bytes() == b""


def test_an_upload_may_be_repeated_and_the_last_one_counts(
    door: Door, key: str, tmp_path: Path
) -> None:
    url = upload_url(door, key)
    door.put(url, b"the longer first")
    door.put(url, b"second")

    door.store.fetch(key, tmp_path / "fetched", max_bytes=100)

    assert (tmp_path / "fetched").read_bytes() == b"second"


def test_sizes_tell_what_there_is(door: Door, key: str) -> None:
    door.store.probe()
    before = size_of(door, key)
    door.store.put(key, b"12345")

    assert before is None
    assert size_of(door, key) == 5


def test_what_is_missing_is_not_fetched(door: Door, key: str, tmp_path: Path) -> None:
    door.store.probe()

    with pytest.raises(ObjectMissing, match=key):
        door.store.fetch(key, tmp_path / "fetched", max_bytes=100)

    assert list(tmp_path.glob("fetched*")) == []


def test_what_is_too_large_is_not_fetched(door: Door, key: str, tmp_path: Path) -> None:
    door.store.put(key, b"123456")

    with pytest.raises(ObjectTooLarge, match="has 6 bytes, more than 5"):
        door.store.fetch(key, tmp_path / "fetched", max_bytes=5)

    assert list(tmp_path.glob("fetched*")) == []


def test_a_copy_stays_when_the_upload_is_overwritten(door: Door, key: str, tmp_path: Path) -> None:
    url, kept = (
        upload_url(door, key),
        kept_key(AttemptToken(str(uuid.uuid4()), 1), "0", "stdout.txt"),
    )
    door.put(url, b"first")
    door.store.copy(key, kept)
    door.put(url, b"changed later")

    door.store.fetch(kept, tmp_path / "fetched", max_bytes=100)

    assert (tmp_path / "fetched").read_bytes() == b"first"
    assert size_of(door, key) == 13


@pytest.mark.parametrize(
    ("offset", "limit", "content"),
    [(0, 3, b"abc"), (2, 3, b"cde"), (4, 9, b"ef"), (6, 1, b""), (9, 1, b""), (1, 0, b"")],
)
def test_a_part_is_read_by_byte_offset(
    door: Door, key: str, offset: int, limit: int, content: bytes
) -> None:
    door.store.put(key, b"abcdef")

    assert door.store.read(key, offset=offset, limit=limit) == content


def test_of_an_empty_object_nothing_is_read(door: Door, key: str) -> None:
    door.store.put(key, b"")

    assert door.store.read(key, offset=0, limit=10) == b""


def test_of_what_is_missing_no_part_is_read(door: Door, key: str) -> None:
    door.store.probe()

    with pytest.raises(ObjectMissing, match=key):
        door.store.read(key, offset=0, limit=10)


def test_what_is_missing_is_not_copied(door: Door, key: str) -> None:
    door.store.probe()

    with pytest.raises(ObjectMissing, match=key):
        door.store.copy(key, f"{key}.copy")

    assert size_of(door, f"{key}.copy") is None


def test_a_download_link_reads_its_object(door: Door, key: str) -> None:
    door.store.put(key, b"for people")

    link = door.store.download_url(key, expires_s=600, filename="Ausgabe größer.txt")

    assert door.get(link) == (200, b"for people")


def test_a_download_link_to_nothing_finds_nothing(door: Door, key: str) -> None:
    door.store.probe()

    link = door.store.download_url(key, expires_s=600, filename="x.txt")

    assert door.get(link)[0] == 404


def test_a_forged_signature_is_refused(door: Door, key: str) -> None:
    door.store.probe()
    forged = _with_signature(upload_url(door, key), lambda text: text[:-1] + _other(text[-1]))

    assert door.put(forged, b"x") == 403
    assert size_of(door, key) is None


@pytest.mark.parametrize("signature", ["", "0" * 64, "a:b"])
def test_a_made_up_signature_is_refused(door: Door, key: str, signature: str) -> None:
    door.store.probe()
    forged = _with_signature(upload_url(door, key), lambda _: signature)

    assert door.put(forged, b"x") in REFUSED
    assert size_of(door, key) is None


def test_no_signature_at_all_is_refused(door: Door, key: str) -> None:
    door.store.put(key, b"secret")
    bare = upload_url(door, key).partition("?")[0]

    assert door.put(bare, b"x") in REFUSED
    assert door.get(bare)[0] in REFUSED


def test_an_expired_url_is_refused(door: Door, key: str) -> None:
    door.store.probe()

    assert door.put(door.expired_upload_url(key), b"x") in REFUSED
    assert size_of(door, key) is None


def test_a_longer_life_cannot_be_written_into_a_url(door: Door, key: str) -> None:
    door.store.probe()
    url = door.expired_upload_url(key)
    parts = urlsplit(url)
    life = {"expires": "9999999999", "X-Amz-Expires": "604800"}
    query = urlencode([(name, life.get(name, value)) for name, value in _query(url)])

    assert door.put(parts._replace(query=query).geturl(), b"x") == 403
    assert size_of(door, key) is None


def test_a_url_is_good_for_no_other_object(door: Door, key: str) -> None:
    door.store.put(f"{key}.other", b"untouched")
    url = upload_url(door, key)

    status = door.put(url.replace("stdout.txt", "stdout.txt.other"), b"spoiled")

    assert status == 403
    assert size_of(door, f"{key}.other") == 9


def test_an_upload_url_cannot_read(door: Door, key: str) -> None:
    door.store.put(key, b"secret")

    status, content = door.get(upload_url(door, key))

    assert status == 403
    assert b"secret" not in content


def test_a_download_link_cannot_write(door: Door, key: str) -> None:
    door.store.put(key, b"untouched")

    status = door.put(door.store.download_url(key, expires_s=600, filename="x"), b"spoiled")

    assert status == 403
    assert size_of(door, key) == 9


@pytest.mark.parametrize(
    "unfit",
    ["", "/a", "a/", "a//b", "..", "a/../b", ".hidden", "a/.b", "a b", "a\nb", "ä", "a" * 501],
)
def test_an_unfit_key_is_refused(door: Door, unfit: str, tmp_path: Path) -> None:
    store = door.store
    for use in (
        lambda: store.upload_url(unfit, expires_s=60, max_bytes=1),
        lambda: store.download_url(unfit, expires_s=60, filename="x"),
        lambda: store.sizes(unfit),
        lambda: store.fetch(unfit, tmp_path / "fetched", max_bytes=1),
        lambda: store.read(unfit, offset=0, limit=1),
        lambda: store.copy(unfit, "good"),
        lambda: store.copy("good", unfit),
        lambda: store.put(unfit, b""),
    ):
        with pytest.raises(ValueError, match="is no key of an object"):
            use()


@pytest.mark.parametrize("expires_s", [0, -1, LONGEST_URL_S + 1])
def test_no_url_lives_longer_than_s3_allows(door: Door, expires_s: int) -> None:
    with pytest.raises(ValueError, match="lives from 1 to 604800 seconds"):
        door.store.upload_url("a", expires_s=expires_s, max_bytes=1)
    with pytest.raises(ValueError, match="lives from 1 to 604800 seconds"):
        door.store.download_url("a", expires_s=expires_s, filename="x")


def _query(url: str) -> list[tuple[str, str]]:
    return parse_qsl(urlsplit(url).query, keep_blank_values=True)


def _with_signature(url: str, change: object) -> str:
    assert callable(change)
    query = [
        (name, change(value) if name.lower().endswith("signature") else value)
        for name, value in _query(url)
    ]
    return urlsplit(url)._replace(query=urlencode(query)).geturl()


def _other(character: str) -> str:
    return "0" if character != "0" else "1"
