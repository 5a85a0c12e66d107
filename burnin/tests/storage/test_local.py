"""What only the store in a directory promises, asked for through the hub's own address."""

import io
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from pytest_django import Settings

from burnin.storage.grants import GrantSigner
from burnin.storage.local import LocalStore, TornUpload
from burnin.storage.store import ObjectMissing, StoreRefused, StoreUnreachable
from burnin.tests.storage.doors import PUBLIC_URL, SECRET, LocalDoor, local_store
from burnin.workflow import wiring


def address(url: str) -> str:
    return url.removeprefix(PUBLIC_URL)


def files(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.is_file()]


def test_more_than_the_cap_is_refused_before_it_is_read(local_door: LocalDoor) -> None:
    url = local_door.store.upload_url("a/b", expires_s=60, max_bytes=10)

    answer = Client().put(address(url), b"x" * 11)

    assert answer.status_code == 413
    assert answer.json() == {"error": "this URL takes at most 10 bytes, not 11"}
    assert files(local_door.root) == []


def test_exactly_the_cap_is_taken(local_door: LocalDoor) -> None:
    url = local_door.store.upload_url("a/b", expires_s=60, max_bytes=10)

    assert local_door.put(url, b"x" * 10) == 201


@pytest.mark.parametrize("length", ["", "-1", "1e3", "ten", "٣"])
def test_an_upload_without_a_length_is_refused(local_door: LocalDoor, length: str) -> None:
    url = local_door.store.upload_url("a/b", expires_s=60, max_bytes=10)

    answer = Client().generic("PUT", address(url), b"x", CONTENT_LENGTH=length)

    assert answer.status_code == 411
    assert "Content-Length" in answer.json()["error"]


def test_a_larger_cap_cannot_be_written_into_a_url(local_door: LocalDoor) -> None:
    url = local_door.store.upload_url("a/b", expires_s=60, max_bytes=10)

    answer = Client().put(address(url.replace("max=10", "max=1000")), b"x" * 11)

    assert answer.status_code == 403
    assert "use the URL whole and unchanged" in answer.json()["error"]


@pytest.mark.parametrize("method", ["POST", "DELETE", "PATCH", "HEAD", "OPTIONS"])
def test_no_other_method_is_answered(local_door: LocalDoor, method: str) -> None:
    local_door.store.put("a/b", b"x")
    url = local_door.store.download_url("a/b", expires_s=60, filename="b")

    answer = Client().generic(method, address(url))

    assert answer.status_code == 405


@pytest.mark.parametrize(
    "path",
    ["../../etc/passwd", "a/../../x", "%2e%2e/x", "..%2f..%2fx", ".torn/x", "a%0ab"],
)
def test_no_path_leads_out_of_the_store(local_door: LocalDoor, path: str) -> None:
    local_door.store.put("a/b", b"x")
    query = urlsplit(local_door.store.download_url("a/b", expires_s=60, filename="b")).query

    answer = Client().get(f"/api/v1/store/{path}?{query}")

    assert answer.status_code in {403, 404}
    assert b"root:" not in answer.content


def test_an_upload_that_ends_early_leaves_nothing(tmp_path: Path) -> None:
    store = local_store(tmp_path)
    store.put("a", b"older")

    with pytest.raises(TornUpload, match="7 of 10 bytes are missing"):
        store.receive("a", io.BytesIO(b"new"), size_bytes=10)

    assert [path.read_bytes() for path in files(tmp_path)] == [b"older"]


def test_an_upload_whose_client_hangs_up_leaves_nothing(tmp_path: Path) -> None:
    class HungUp:
        def read(self, size: int, /) -> bytes:
            raise ConnectionResetError

    with pytest.raises(TornUpload):
        local_store(tmp_path).receive("a", HungUp(), size_bytes=10)

    assert files(tmp_path) == []


def test_objects_are_readable_by_the_hub_alone(local_door: LocalDoor) -> None:
    local_door.put(local_door.store.upload_url("a/b", expires_s=60, max_bytes=10), b"x")

    (file,) = files(local_door.root)

    assert file.stat().st_mode & 0o777 == 0o600
    assert local_door.root.stat().st_mode & 0o077 == 0


@pytest.mark.django_db
def test_a_download_is_never_shown_as_a_page(local_door: LocalDoor) -> None:
    local_door.store.put("a/b.html", b"<script>")
    url = local_door.store.download_url("a/b.html", expires_s=60, filename="b.html")

    answer = Client().get(address(url))
    answer.close()

    assert answer.headers["Content-Type"] == "application/octet-stream"
    assert answer.headers["Content-Disposition"] == 'attachment; filename="b.html"'
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_a_directory_that_is_not_mounted_is_not_an_empty_store(tmp_path: Path) -> None:
    store = local_store(tmp_path / "gone")

    with pytest.raises(StoreUnreachable, match="gone is not there"):
        store.sizes("a")
    with pytest.raises(StoreUnreachable, match="gone is not there"):
        store.fetch("a", tmp_path / "fetched", max_bytes=1)


def test_a_key_below_an_object_is_refused(tmp_path: Path) -> None:
    store = local_store(tmp_path)
    store.put("a", b"x")

    with pytest.raises(StoreRefused, match="refuses a/b"):
        store.put("a/b", b"x")


def test_a_full_disk_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    class TooMuch:
        def read(self, size: int, /) -> bytes:
            raise AssertionError("nothing may be read: the disk is full")

    full = local_store(Path("/dev/full/store"))

    with pytest.raises((StoreRefused, StoreUnreachable)):
        full.receive("a", TooMuch(), size_bytes=1)


def test_a_probe_leaves_nothing_behind(tmp_path: Path) -> None:
    local_store(tmp_path).probe()

    assert files(tmp_path) == []


def test_fetching_into_a_directory_that_is_not_there_is_no_missing_object(tmp_path: Path) -> None:
    store = local_store(tmp_path / "store")
    store.put("a", b"x")

    with pytest.raises(FileNotFoundError):
        store.fetch("a", tmp_path / "nowhere" / "fetched", max_bytes=10)


def test_urls_of_a_retired_secret_still_hold(tmp_path: Path, settings: Settings) -> None:
    url = local_store(tmp_path).upload_url("a", expires_s=60, max_bytes=10)
    settings.STORE, settings.PUBLIC_URL = f"local:{tmp_path}", PUBLIC_URL
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "a new secret", [SECRET]

    assert Client().put(address(url), b"x").status_code == 201


def test_urls_of_another_hub_do_not_hold(local_door: LocalDoor) -> None:
    other = LocalStore(local_door.root, public_url=PUBLIC_URL, signer=GrantSigner("another secret"))

    assert local_door.put(other.upload_url("a", expires_s=60, max_bytes=10), b"x") == 403


def test_a_hub_with_its_store_elsewhere_serves_no_objects(
    local_door: LocalDoor, settings: Settings
) -> None:
    url = local_door.store.upload_url("a", expires_s=60, max_bytes=10)
    settings.STORE = "s3://artifacts"

    answer = Client().put(address(url), b"x")

    assert answer.status_code == 403
    assert "ask it for a fresh URL" in answer.json()["error"]


def test_a_store_that_fails_says_so_without_its_paths(
    local_door: LocalDoor, settings: Settings
) -> None:
    url = local_door.store.upload_url("a", expires_s=60, max_bytes=10)
    settings.STORE = "local:/proc/nowhere"

    answer = Client().put(address(url), b"x")

    assert answer.status_code == 503
    assert "/proc" not in answer.content.decode()


@pytest.mark.parametrize("place", ["", "local:", "local:relative", "s3://", "ftp://x", "/abs"])
def test_a_store_that_cannot_be_is_named(settings: Settings, place: str) -> None:
    settings.STORE = place

    with pytest.raises(ImproperlyConfigured, match="set it to local:/absolute/directory or s3://"):
        wiring.store()


def test_a_link_in_the_store_is_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    outside = tmp_path / "outside"
    outside.write_bytes(b"mine")
    (tmp_path / "store" / "a").symlink_to(outside)

    local_store(tmp_path / "store").put("a", b"x")

    assert outside.read_bytes() == b"mine"


def test_a_missing_object_is_missing(tmp_path: Path) -> None:
    with pytest.raises(ObjectMissing, match="there is no object a"):
        local_store(tmp_path).open("a")
