"""What is missing or unsafe in the environment, with what to do about it."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register
from django.db import connections

SHORTEST_SECRET = 32
BROKER_SCHEMES = ("redis", "rediss", "redis+socket")
# What Django's test runner adds; nobody's address.
NOT_PUBLIC = frozenset({"localhost", "testserver", ""})


@register()
def environment_is_safe(**_: Any) -> list[CheckMessage]:
    checks: tuple[Callable[[], Iterator[CheckMessage]], ...] = (
        secret_key,
        debug,
        public_url,
        broker,
        store,
    )
    return [message for check in checks for message in check()]


def secret_key() -> Iterator[CheckMessage]:
    """E101: whoever knows the secret can forge sessions and upload URLs."""
    hint = "set FLEET_SECRET_KEY to 50 random characters, the same for every process of the hub"
    if settings.SECRET_KEY_IS_OWN and _public_hosts():
        text = "FLEET_SECRET_KEY is not set, and the hub has public addresses"
        yield Error(text, hint=hint, id="fleet.E101")
    if len(settings.SECRET_KEY) < SHORTEST_SECRET and not settings.DEBUG:
        text = f"FLEET_SECRET_KEY is shorter than {SHORTEST_SECRET} characters"
        yield Error(text, hint=hint, id="fleet.E101")


def debug() -> Iterator[CheckMessage]:
    """E102: a debug page shows settings and code to whoever provokes it."""
    if settings.DEBUG and (public := _public_hosts()):
        yield Error(
            f"FLEET_DEBUG is on, and FLEET_ALLOWED_HOSTS lets {', '.join(public)} in",
            hint="unset FLEET_DEBUG, or leave only localhost in FLEET_ALLOWED_HOSTS",
            id="fleet.E102",
        )


def public_url() -> Iterator[CheckMessage]:
    """E103: tokens and upload URLs travel to it."""
    url = urlsplit(settings.PUBLIC_URL)
    if url.scheme not in ("http", "https") or not url.hostname:
        yield Error(
            f"FLEET_PUBLIC_URL is {settings.PUBLIC_URL!r}, which is no address of a web server",
            hint="set it to how nodes and satellites reach the hub: https://fleet.example.com",
            id="fleet.E103",
        )
    elif url.scheme == "http" and not is_loopback(url.hostname):
        yield Error(
            f"FLEET_PUBLIC_URL is {settings.PUBLIC_URL}: site tokens would travel in the clear",
            hint="put a proxy with a certificate before the hub, and set it to https://…",
            id="fleet.E103",
        )


def broker() -> Iterator[CheckMessage]:
    """E105: whoever reaches the broker can order jobs at every site."""
    url = urlsplit(settings.BROKER_URL)
    if url.scheme not in BROKER_SCHEMES:
        yield Error(
            f"FLEET_BROKER_URL begins with {url.scheme!r:.40}, which is no Redis",
            hint="set it to redis://user:password@host:6379/0 or redis+socket:///path/redis.sock",
            id="fleet.E105",
        )
    elif url.scheme != "redis+socket" and not url.password and not is_loopback(url.hostname or ""):
        yield Error(
            f"the broker at {url.hostname} lets everybody in",
            hint="give Redis users with passwords (see docs/configuration.md) and set "
            "FLEET_BROKER_URL to redis://user:password@host:6379/0",
            id="fleet.E105",
        )


def store() -> Iterator[CheckMessage]:
    """E106 to E108: without a store no result can be brought in."""
    scheme, _, place = settings.STORE.partition(":")
    match scheme:
        case "local":
            yield from _local_store(Path(place))
        case "s3":
            yield from _s3_store(place)
        case _:
            yield Error(
                f"FLEET_STORE is {settings.STORE!r:.80}, which is no store",
                hint="set it to local:/absolute/directory or s3://bucket",
                id="fleet.E106",
            )


def _local_store(directory: Path) -> Iterator[CheckMessage]:
    if not directory.is_absolute():
        yield Error(
            f"FLEET_STORE is {settings.STORE!r:.80}, which is no absolute directory",
            hint="set it to local:/absolute/directory",
            id="fleet.E106",
        )
        return
    standing = next(each for each in (directory, *directory.parents) if each.exists())
    if not standing.is_dir() or not os.access(standing, os.W_OK | os.X_OK):
        yield Error(
            f"the artifact store {directory} cannot be written by this user",
            hint=f"give this user {standing}, or set FLEET_STORE to another directory",
            id="fleet.E107",
        )


def _s3_store(place: str) -> Iterator[CheckMessage]:
    if not place.strip("/"):
        yield Error("FLEET_STORE names no bucket", hint="set it to s3://bucket", id="fleet.E106")
    missing = [
        name
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
        if not getattr(settings, name)
    ]
    if missing:
        yield Error(
            f"the artifact store is S3, but {' and '.join(missing)} is not set",
            hint="set both to a key that may read and write the bucket",
            id="fleet.E108",
        )


@register(Tags.database)
def sqlite_is_wal(*, databases: Sequence[str] | None = None, **_: Any) -> list[CheckMessage]:
    """E104: without a write-ahead log one reader stops every writer.

    Asked by `manage.py migrate` and `manage.py check --database default`.
    """
    messages: list[CheckMessage] = []
    for alias in databases or ():
        connection = connections[alias]
        if connection.vendor != "sqlite":
            continue
        with connection.cursor() as cursor:
            mode = cursor.execute("PRAGMA journal_mode").fetchone()[0]
        if mode not in ("wal", "memory"):
            messages.append(
                Error(
                    f"the SQLite database {alias!r} has journal mode {mode}, not WAL",
                    hint="put it on a local disk (WAL needs shared memory, which NFS has not), "
                    "or set FLEET_DATABASE_URL to PostgreSQL",
                    id="fleet.E104",
                )
            )
    return messages


def is_loopback(host: str) -> bool:
    """Say whether a host name or address never leaves this machine."""
    bare = host.strip("[]")
    if bare in NOT_PUBLIC:
        return True
    try:
        return ipaddress.ip_address(bare).is_loopback
    except ValueError:
        return False


def _public_hosts() -> list[str]:
    return [host for host in settings.ALLOWED_HOSTS if not is_loopback(host)]
