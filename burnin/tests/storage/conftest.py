"""Every store behind one door, so that one suite tests the three."""

from pathlib import Path

import pytest
from pytest_django import Settings

from burnin.tests.storage.doors import PUBLIC_URL, SECRET, Door, LocalDoor, MemoryDoor, S3Door
from deploy.cluster.testing import RealServices


@pytest.fixture
def local_door(tmp_path: Path, settings: Settings) -> LocalDoor:
    settings.STORE, settings.PUBLIC_URL, settings.SECRET_KEY = (
        f"local:{tmp_path / 'store'}",
        PUBLIC_URL,
        SECRET,
    )
    return LocalDoor(tmp_path / "store")


@pytest.fixture
def s3_door(services: RealServices) -> S3Door:
    return S3Door(services)


@pytest.fixture(params=["memory", "local", "s3"])
def door(request: pytest.FixtureRequest) -> Door:
    if request.param == "memory":
        return MemoryDoor()
    made: Door = request.getfixturevalue(f"{request.param}_door")
    return made
