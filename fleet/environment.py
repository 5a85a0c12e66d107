"""What the environment says, as Django wants it. What is no value at all is refused here."""

import os
import secrets
from pathlib import Path
from typing import Any

import dj_database_url
from django.core.exceptions import ImproperlyConfigured

SECRET_BYTES = 48
YES = frozenset({"1", "true", "yes", "on"})

# A writer waits for the lock from its first statement on, so no transaction fails halfway.
SQLITE_OPTIONS = {
    "timeout": 20,
    "transaction_mode": "IMMEDIATE",
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
}


def is_on(name: str) -> bool:
    return os.environ.get(name, "").strip().lower() in YES


def words(name: str, default: str) -> list[str]:
    """Return a comma-separated variable as a list, without empty parts."""
    return [word for part in os.environ.get(name, default).split(",") if (word := part.strip())]


def whole_number(name: str, default: int, *, lowest: int = 1) -> int:
    """Return a variable that must be a whole number of at least `lowest`."""
    given = os.environ.get(name, "").strip()
    if given and not (given.isascii() and given.isdigit() and int(given) >= lowest):
        raise ImproperlyConfigured(
            f"{name} is {given!r:.40}: set it to a whole number, {lowest} or more"
        )
    return int(given or default)


def database(url: str) -> dict[str, Any]:
    """Return the database of a URL: `sqlite:////abs/file` or `postgres://user:pw@host/name`."""
    try:
        parsed = dj_database_url.parse(url, conn_max_age=60, conn_health_checks=True)
    except ValueError:  # its words would show the password
        scheme = url.partition(":")[0]
        raise ImproperlyConfigured(
            f"FLEET_DATABASE_URL ({scheme:.20}:…) is no database: set it to "
            "postgres://user:password@host/name or sqlite:////absolute/file"
        ) from None
    config: dict[str, Any] = dict(parsed)
    if config["ENGINE"].endswith("sqlite3"):
        config["OPTIONS"] = {**config.get("OPTIONS", {}), **SQLITE_OPTIONS}
    return config


def own_secret(path: Path) -> str:
    """Return the secret in a file that only we can read; the first to ask makes it."""
    try:
        return _own_secret(path)
    except OSError as error:
        raise ImproperlyConfigured(
            f"no secret can be kept in {path} ({error.strerror}): set FLEET_SECRET_KEY, or "
            "FLEET_VAR_DIR to a directory that can be written"
        ) from error


def _own_secret(path: Path) -> str:
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_urlsafe(SECRET_BYTES))
        try:
            os.link(draft, path)
        except FileExistsError:
            pass  # another process was first: its secret is ours
        finally:
            draft.unlink()
    return path.read_text().strip()
