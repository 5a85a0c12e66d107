"""Where artifacts are kept: what every store can do, and how it says no.

Obeyed by burnin.storage.s3, burnin.storage.local and, in memory, burnin.storage.memory.
"""

import re
from pathlib import Path
from typing import Protocol

from runner.contract.wire import AttemptToken

LONGEST_URL_S = 7 * 24 * 3600  # what S3's signatures allow
# No segment begins with a dot: a key can neither climb out of a directory nor meet a hidden file.
KEY = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*")
LONGEST_KEY = 500


class StoreUnreachable(Exception):
    """The store did not answer. Nothing is known of the object; try again."""


class StoreRefused(Exception):
    """The store answered and said no: credentials, bucket or permissions are wrong."""


class ObjectMissing(Exception):
    """There is no such object."""


class ObjectTooLarge(Exception):
    """The object is larger than it may be. Nothing was read."""


class ArtifactStore(Protocol):
    """Every method raises StoreUnreachable or StoreRefused, and ValueError for an unfit key."""

    def upload_url(self, key: str, *, expires_s: int, max_bytes: int) -> str:
        """Return a URL that can PUT this one object, once or more, until it expires.

        S3 cannot cap what a URL uploads: look at the size before anything else.
        """
        ...

    def download_url(self, key: str, *, expires_s: int, filename: str) -> str:
        """Return a URL that can GET this one object until it expires."""
        ...

    def sizes(self, directory: str) -> dict[str, int]:
        """Return the size in bytes of every object whose key is `directory/<name>`, by name."""
        ...

    def fetch(self, key: str, destination: Path, *, max_bytes: int) -> None:
        """Write the object to a file. Raises ObjectMissing or ObjectTooLarge."""
        ...

    def read(self, key: str, *, offset: int, limit: int) -> bytes:
        """Return at most `limit` bytes from a byte offset; nothing at or beyond the end.

        Raises ObjectMissing.
        """
        ...

    def copy(self, source: str, target: str) -> None:
        """Copy inside the store. Raises ObjectMissing.

        What an upload URL can still overwrite is copied first, and the copy is what gets verified.
        """
        ...

    def put(self, key: str, content: bytes) -> None: ...

    def probe(self) -> None:
        """Return if objects can be written, read and removed."""
        ...


def require_key(key: str) -> None:
    """Raise ValueError if this cannot name an object."""
    if not KEY.fullmatch(key) or len(key) > LONGEST_KEY:
        raise ValueError(f"{key!r:.80} is no key of an object: plain names separated by '/'")


def require_lifetime(expires_s: int) -> None:
    """Raise ValueError if no URL can live for so long."""
    if not 1 <= expires_s <= LONGEST_URL_S:
        raise ValueError(f"a URL lives from 1 to {LONGEST_URL_S} seconds, not {expires_s}")


def incoming_directory(site: str, token: AttemptToken) -> str:
    return f"incoming/{site}/{token.directory}"


def incoming_key(site: str, token: AttemptToken, name: str) -> str:
    """Where a node's upload URL writes."""
    return f"{incoming_directory(site, token)}/{name}"


def kept_key(token: AttemptToken, courier: str, name: str) -> str:
    """Where the verified copy stands; no node ever gets a URL that writes here.

    Each courier has a place of its own: one that comes late overwrites nothing that was judged.
    """
    return f"artifacts/{token.run_id}/{token.attempt}/{courier}/{name}"
