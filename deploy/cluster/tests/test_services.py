"""Redis, PostgreSQL and S3: up after anything, and nobody gets at what is not theirs."""

import http.client
import os
import signal
import subprocess
from collections.abc import Callable

import pytest

from deploy.cluster import layout, postgres, processes, testing
from deploy.cluster.layout import Cluster
from deploy.cluster.testing import RealServices

NAMES = ("redis-server", "postgres", "rclone")


def known(services: RealServices) -> Cluster:
    cluster = layout.load(services.directory)
    assert cluster is not None
    return cluster


def kill(services: RealServices, name: str) -> None:
    for victim in services.processes(name):
        os.kill(victim.pid, signal.SIGKILL)
    assert processes.wait_until(lambda: not services.processes(name), timeout_s=60)


def as_user(url: str, *words: str) -> str:
    """Return what Redis says to the user of this URL."""
    client = ["redis-cli", "-u", url, "--no-auth-warning", *words]
    done = subprocess.run(client, capture_output=True, text=True, timeout=10, check=True)
    return done.stdout.strip()


@pytest.mark.parametrize("name", NAMES)
def test_up_after_a_killed_service_keeps_what_it_held(
    start_services: Callable[[], RealServices], name: str
) -> None:
    services = start_services()
    services.redis_cli("SET", "kept", "in Redis")
    postgres.query(known(services), "CREATE TABLE kept (word text)", database="fleet")
    kill(services, name)

    services.up_again()

    assert services.redis_cli("GET", "kept") == "in Redis\n"
    assert postgres.query(known(services), "SELECT count(*) FROM kept", database="fleet") == "0\n"
    assert all(services.processes(each) for each in NAMES)


def test_down_leaves_no_process_and_wipe_no_file(
    start_services: Callable[[], RealServices],
) -> None:
    services = start_services()
    running = [process.pid for name in NAMES for process in services.processes(name)]

    said = testing.command("down", str(services.directory))
    testing.command("wipe", str(services.directory))

    assert f"{len(running)} processes ended" in said
    assert not [pid for pid in running if processes.is_alive(pid)]
    assert not services.directory.exists()


def test_a_site_may_use_its_own_keys(services: RealServices) -> None:
    url = testing.command("site-broker", str(services.directory), "acl-own").strip()

    assert as_user(url, "LPUSH", "site-acl-own:orders", "x") == "1"
    assert as_user(url, "BRPOP", "site-acl-own:orders", "1").split()[-1] == "x"


@pytest.mark.parametrize(
    "words",
    [
        ("LPUSH", "hub", "x"),
        ("GET", "site-acl:orders"),
        ("LPUSH", "site-acl-other-more:orders", "x"),
        ("BRPOP", "site-acl-other:orders", "celery", "1"),
        ("SET", "unacked", "x"),
        ("KEYS", "*"),
        ("SCAN", "0"),
        ("FLUSHALL",),
        ("CONFIG", "GET", "*"),
        ("EVAL", "return 1", "0"),
        ("SUBSCRIBE", "c"),
        ("PUBLISH", "c", "x"),
        ("ACL", "LIST"),
        ("CLIENT", "LIST"),
        ("SELECT", "1"),
        ("RENAME", "site-acl-other:orders", "site-acl-other:more"),
    ],
)
def test_a_site_may_do_nothing_else(services: RealServices, words: tuple[str, ...]) -> None:
    url = services.site_broker_url("acl-other")

    assert as_user(url, *words).startswith("NOPERM")


def test_a_site_survives_a_restart_of_redis(start_services: Callable[[], RealServices]) -> None:
    services = start_services()
    url = services.site_broker_url("east")
    kill(services, "redis-server")

    services.up_again()

    assert as_user(url, "PING") == "PONG"
    assert services.site_broker_url("east") == url


def test_nobody_talks_to_redis_without_a_password(services: RealServices) -> None:
    address = services.redis_url.rpartition("@")[2]

    assert as_user(f"redis://{address}", "GET", "x").startswith("NOAUTH")
    assert as_user(f"redis://hub:wrong@{address}", "GET", "x").startswith("NOAUTH")


def test_nobody_reads_s3_without_a_signature(services: RealServices) -> None:
    connection = http.client.HTTPConnection(services.s3_endpoint.removeprefix("http://"))
    try:
        connection.request("GET", f"/{services.s3_bucket}")

        assert connection.getresponse().status in {400, 403}
    finally:
        connection.close()


def test_the_files_with_passwords_are_their_owners_only(services: RealServices) -> None:
    secret = ["hub.env", "services/services.json", "services/credentials.json"]

    modes = {(services.directory / name).stat().st_mode & 0o777 for name in secret}

    assert modes == {0o600}
