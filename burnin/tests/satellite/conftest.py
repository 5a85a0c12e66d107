"""A real satellite between a real cluster, a private Redis and a hub that is a fake."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from burnin.satellite.config import SiteConfig, load_site
from burnin.satellite.messages import Message
from burnin.tests.satellite.fake_hub import TOKEN, FakeHub
from burnin.tests.satellite.private_redis import PrivateRedis
from burnin.tests.satellite.process import SatelliteProcess
from deploy.cluster.testing import RealCluster

SITE = "east"
PACE = "[pace]\nfast_s = 0.3\nslow_s = 1.0\nheartbeat_s = 1.0\n"


@pytest.fixture
def hub() -> Iterator[FakeHub]:
    with FakeHub() as hub:
        yield hub


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[PrivateRedis]:
    directory = tmp_path / "redis"
    directory.mkdir()
    server = PrivateRedis(directory)
    yield server
    server.kill()


@pytest.fixture
def site_file(
    cluster: RealCluster, hub: FakeHub, redis: PrivateRedis, tmp_path: Path
) -> Callable[..., Path]:
    """Write a satellite's TOML: `site_file(visibility_timeout_s=5)`."""

    def write(*, visibility_timeout_s: int = 1800, more: str = "", login_path: str = "") -> Path:
        token_file = tmp_path / "token"
        token_file.write_text(TOKEN)
        token_file.chmod(0o600)
        text = cluster.site_toml.read_text().replace('name = "cluster"', f'name = "{SITE}"')
        if login_path:
            own = f'[environment]\nPATH = "{login_path}:/usr/local/bin:/usr/bin:/bin:/usr/sbin"'
            assert "[environment]" in text
            text = text.replace("[environment]", own)
        path = tmp_path / "east.toml"
        path.touch(mode=0o600)
        path.write_text(
            f'{text}\n[hub]\nurl = "{hub.url}"\ntoken_file = "{token_file}"\n'
            f'\n[broker]\nurl = "{redis.add_site(SITE)}"\n'
            f"visibility_timeout_s = {visibility_timeout_s}\n\n{PACE}\n{more}"
        )
        return path

    return write


@pytest.fixture
def start_satellite(site_file: Callable[..., Path]) -> Iterator[Callable[..., SatelliteProcess]]:
    """Start satellites of the site; they are gone when the test ends."""
    started: list[SatelliteProcess] = []

    def start(**settings: object) -> SatelliteProcess:
        satellite = SatelliteProcess(site_file(**settings))
        started.append(satellite)
        return satellite

    yield start
    for satellite in started:
        satellite.kill()
        print(satellite.log[-4000:])  # pytest shows it where the test failed


@pytest.fixture
def site(site_file: Callable[..., Path]) -> SiteConfig:
    return load_site(site_file())


@pytest.fixture
def send(redis: PrivateRedis) -> Callable[[str, Message], None]:
    """Put an order into the site's queue, as the hub does."""

    def order(task: str, message: Message) -> None:
        redis.send(SITE, task, message.model_dump(mode="json"))

    return order
