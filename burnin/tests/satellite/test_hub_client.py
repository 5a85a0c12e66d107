"""HTTP to a hub that answers well, badly, and not at all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from burnin.satellite.config import HubConfig
from burnin.satellite.hub_client import HubClient, HubDisliked, HubRefused, HubUnreachable
from burnin.satellite.messages import Envelope, FactBatch
from burnin.tests.satellite.fake_hub import TOKEN, FakeHub
from burnin.tests.satellite.test_outbox import run_id, seen

BATCH = FactBatch(facts=(Envelope(id="1", fact=seen("RUNNING")),))


@pytest.fixture
def hub() -> Iterator[FakeHub]:
    with FakeHub() as hub:
        yield hub


@pytest.fixture
def token_file(tmp_path: Path) -> Path:
    path = tmp_path / "token"
    path.write_text(TOKEN)
    path.chmod(0o600)
    return path


@pytest.fixture
def client(hub: FakeHub, token_file: Path) -> Iterator[HubClient]:
    client = HubClient(HubConfig(url=hub.url, token_file=token_file))
    yield client
    client.close()


def test_facts_are_delivered_and_answered_for(hub: FakeHub, client: HubClient) -> None:
    answer = client.post(BATCH)

    assert answer.acknowledged == ("1",)
    assert hub.facts() == [seen("RUNNING")]


def test_a_bundle_that_came_damaged_is_not_used(hub: FakeHub, client: HubClient) -> None:
    sha256 = hub.add_bundle(b"runner")
    assert client.bundle(sha256) == b"runner"

    hub.bundles[sha256] = b"runnex"

    with pytest.raises(HubUnreachable, match="sha256"):
        client.bundle(sha256)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (500, HubUnreachable),
        (502, HubUnreachable),
        (429, HubUnreachable),
        (302, HubUnreachable),
        (401, HubRefused),
        (403, HubRefused),
        (400, HubDisliked),
        (404, HubUnreachable),
        (405, HubUnreachable),
        (422, HubDisliked),
        (413, HubDisliked),
    ],
)
def test_each_refusal_says_whether_to_try_again(
    hub: FakeHub, client: HubClient, status: int, kind: type[Exception]
) -> None:
    hub.status = status

    with pytest.raises(kind, match=f"answered {status}: told to"):
        client.post(BATCH)


def test_a_token_is_rotated_without_a_restart(
    hub: FakeHub, client: HubClient, token_file: Path
) -> None:
    client.post(BATCH)
    hub.token = "another"

    with pytest.raises(HubRefused, match="revoked"):
        client.post(BATCH)
    token_file.write_text("another")

    assert client.post(BATCH).acknowledged == ("1",)


def test_a_hub_that_is_down_is_unreachable(token_file: Path) -> None:
    with FakeHub() as hub:
        client = HubClient(HubConfig(url=hub.url, token_file=token_file))

    with pytest.raises(HubUnreachable, match="did not answer"):
        client.post(BATCH)


def test_a_connection_that_the_hub_closed_is_opened_again(hub: FakeHub, client: HubClient) -> None:
    client.post(BATCH)
    hub.close_after_answer = True
    client.post(BATCH)

    assert client.post(BATCH).acknowledged == ("1",)


def test_an_answer_that_is_none_is_not_taken_for_one(hub: FakeHub, client: HubClient) -> None:
    hub.take = lambda batch: batch  # type: ignore[method-assign, assignment, return-value]

    with pytest.raises(HubUnreachable, match="no answer to facts"):
        client.post(BATCH)


def test_no_error_holds_the_token(hub: FakeHub, client: HubClient) -> None:
    hub.status = 401

    with pytest.raises(HubRefused) as refusal:
        client.post(BATCH)

    assert TOKEN not in str(refusal.value)
    assert run_id(1) not in str(refusal.value)
