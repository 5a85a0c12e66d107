"""Satellites fetch the runner that an order names, and only that."""

import hashlib
from pathlib import Path

import pytest
from django.test import Client
from pytest_django import Settings

from burnin.runner_bundle import SOURCE, bundle_bytes
from burnin.workflow import wiring

pytestmark = pytest.mark.django_db
BUNDLES = "/api/v1/satellite/bundles/"


@pytest.fixture(autouse=True)
def own_bundles(settings: Settings, tmp_path: Path) -> Path:
    settings.VAR_DIR = tmp_path
    wiring.hub_bundle.cache_clear()
    return tmp_path / "bundles"


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def test_a_kept_bundle_of_an_older_version_is_sent(satellite: Client, own_bundles: Path) -> None:
    own_bundles.mkdir()
    older = digest(b"an older runner")
    (own_bundles / f"runner-{older}.pyz").write_bytes(b"an older runner")

    answer = satellite.get(BUNDLES + older)

    assert answer.status_code == 200
    assert b"".join(answer) == b"an older runner"
    assert answer.headers["Content-Length"] == "15"


def test_this_versions_bundle_is_made_where_it_is_missing(satellite: Client) -> None:
    content = bundle_bytes(SOURCE)

    answer = satellite.get(BUNDLES + digest(content))

    assert b"".join(answer) == content


def test_an_unknown_bundle_is_not_found(satellite: Client) -> None:
    answer = satellite.get(BUNDLES + "0" * 64)

    assert answer.status_code == 404
    assert "web and worker must be of one version" in answer.json()["error"]


@pytest.mark.parametrize("name", ["", "x", "0" * 63, "A" * 64, "../" * 22, "%2e%2e%2fsecret_key"])
def test_what_is_no_digest_names_no_file(satellite: Client, name: str) -> None:
    assert satellite.get(BUNDLES + name).status_code == 404


def test_bundles_are_for_sites_only(db: None) -> None:
    assert Client().get(BUNDLES + "0" * 64).status_code == 401
