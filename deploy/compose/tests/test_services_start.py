"""Each command of docker-compose.yml starts, and each healthcheck tells the well from the ill."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from pathlib import Path

import pytest

from burnin.alive import OLD_AFTER_S, why_ill
from deploy.cluster import ports, processes
from deploy.compose.tests.composition import Composition

pytestmark = pytest.mark.xdist_group("composition")  # it is up once

HUB = ("web", "worker", "beat", "redis", "store")


@pytest.mark.parametrize("service", [*HUB, "postgres"])
def test_a_service_is_healthy(composition: Composition, service: str) -> None:
    said = composition.health(service)

    assert (said.returncode, said.stderr) == (0, "")


def test_the_hub_finds_nothing_missing(composition: Composition) -> None:
    said = composition.run(
        "web",
        ["python", "manage.py", "check", "--database", "default", "--fail-level", "WARNING"],
    )

    assert said.returncode == 0, said.stderr


def test_prepared_again_changes_nothing(composition: Composition) -> None:
    said = composition.run("prepare", composition.argv("prepare"))

    assert said.returncode == 0, said.stderr
    assert "No migrations to apply" in said.stdout


def test_redis_knows_the_hub_and_nobody_else(composition: Composition) -> None:
    port = str(composition.ports["redis"])
    stranger = composition.run("redis", ["redis-cli", "-p", port, "ping"])
    wrong = composition.run("redis", ["redis-cli", "-p", port, "--user", "hub", "ping"],
                            REDISCLI_AUTH="wrong")  # fmt: skip

    assert "NOAUTH" in stranger.stdout
    assert "NOAUTH" in wrong.stdout


def test_a_store_that_lets_everybody_in_is_ill(composition: Composition, tmp_path: Path) -> None:
    port = str(ports.reserve(tmp_path, 1).start)
    environment = composition.environment("store")
    del environment["RCLONE_AUTH_KEY"]
    own = str(composition.ports["store"])
    argv = [word.replace(own, port) for word in composition.argv("store")]
    check = [word.replace(own, port) for word in composition.health_argv("store")]
    with subprocess.Popen(argv, env=environment, stderr=subprocess.DEVNULL) as open_to_all:
        try:
            assert processes.wait_until(lambda: _listens(port), timeout_s=30)
            assert composition.run("store", check).returncode == 1
        finally:
            open_to_all.kill()


def _listens(port: str) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", int(port))) == 0


def test_a_service_that_is_gone_is_ill(composition: Composition) -> None:
    for service in ("web", "store", "redis"):
        port = str(composition.ports[service])
        check = [word.replace(port, "1") for word in composition.health_argv(service)]

        assert composition.run(service, check).returncode == 1, service


def test_a_worker_without_its_broker_grows_ill(composition: Composition) -> None:
    file = composition.home / "worker.alive"
    last = file.stat().st_mtime

    assert why_ill(file, now_s=last + OLD_AFTER_S - 1) == ""
    assert "no sign of life for" in why_ill(file, now_s=last + OLD_AFTER_S + 1)
    assert "is not there" in why_ill(composition.home / "no-such-file", now_s=last)


def test_an_old_file_is_told_by_exit_code(composition: Composition) -> None:
    file = composition.home / "old.alive"
    file.touch()
    long_ago = time.time() - 2 * OLD_AFTER_S
    os.utime(file, (long_ago, long_ago))

    said = composition.run("worker", ["python", "-m", "burnin.alive", str(file)])

    assert (said.returncode, said.stdout) == (1, "")
    assert said.stderr.startswith("no sign of life for")
