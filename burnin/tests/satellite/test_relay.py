"""Artifacts go to the store by way of the satellite, within their caps and one by one."""

from __future__ import annotations

import ssl
from io import BytesIO
from typing import IO

import pytest

from burnin.satellite.messages import RelayOrder
from burnin.satellite.relay import NotRelayed, Uploader, relay
from burnin.slurm.fake import FakeCluster
from burnin.tests.satellite.fake_hub import FakeHub
from burnin.tests.slurm.jobs import new_token
from runner.contract import artifacts

TOKEN = new_token()


class Store:
    """Takes what is put, in order; refuses URLs that end in "refuse"."""

    def __init__(self) -> None:
        self.taken: list[tuple[str, bytes]] = []

    def put(self, content: IO[bytes], size_bytes: int, url: str) -> None:
        body = content.read()
        assert len(body) == size_bytes
        if url.endswith("refuse"):
            raise NotRelayed("the store answered 403")
        self.taken.append((url, body))


def order(**uploads: str) -> RelayOrder:
    named = {name.replace("_", "."): url for name, url in uploads.items()}
    return RelayOrder(run_id=TOKEN.run_id, attempt=TOKEN.attempt, uploads=named)


def cluster_with(**files: bytes) -> FakeCluster:
    cluster = FakeCluster()
    cluster.files = {(TOKEN, name.replace("_", ".")): body for name, body in files.items()}
    return cluster


def test_what_is_there_is_uploaded_and_the_metadata_come_last() -> None:
    store = Store()
    cluster = cluster_with(metadata_json=b"{}", stdout_txt=b"out" * 5_000_000)

    told = relay(cluster, order(metadata_json="m", stdout_txt="s", stderr_txt="e"), put=store.put)

    assert [url for url, _ in store.taken] == ["s", "m"]
    assert len(store.taken[0][1]) == 15_000_000
    assert (told.names, told.words) == (("stdout.txt", "metadata.json"), "")


def test_one_artifact_that_the_store_refuses_does_not_keep_the_others() -> None:
    store = Store()
    cluster = cluster_with(metadata_json=b"{}", stdout_txt=b"out")

    told = relay(cluster, order(metadata_json="m", stdout_txt="refuse"), put=store.put)

    assert (told.names, told.words) == (("metadata.json",), "stdout.txt: the store answered 403")


def test_a_file_above_its_cap_stays_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(artifacts.MAX_BYTES, artifacts.STDOUT, 10)
    store = Store()

    told = relay(cluster_with(stdout_txt=b"x" * 11), order(stdout_txt="s"), put=store.put)

    assert store.taken == []
    assert told.words == "stdout.txt: it is larger than the 10 bytes allowed"


def test_a_name_that_is_no_artifact_is_not_read() -> None:
    told = relay(cluster_with(), order(**{"../../key": "s"}), put=Store().put)

    assert told.words.endswith("it is no artifact")


def test_a_cluster_that_is_away_is_told_in_words() -> None:
    cluster = cluster_with(stdout_txt=b"x")
    cluster.is_unreachable = True

    told = relay(cluster, order(stdout_txt="s"), put=Store().put)

    assert (told.names, told.words) == ((), "stdout.txt: the fake cluster is switched off")


def test_an_upload_by_http_has_its_length_and_errors_hide_the_url() -> None:
    uploader = Uploader(ssl.create_default_context())
    with FakeHub() as hub:
        uploader.put(BytesIO(b"body"), 4, f"{hub.url}/key?sig=SECRET")
        taken = dict(hub.uploads)
    with pytest.raises(NotRelayed) as refusal:
        uploader.put(BytesIO(b"body"), 4, f"{hub.url}/key?sig=SECRET")

    assert taken == {"/key?sig=SECRET": b"body"}
    assert "SECRET" not in str(refusal.value)
