"""Where artifacts are kept: what every store can do, and how it says no.

Obeyed by burnin.storage.s3, burnin.storage.local and, in memory, burnin.storage.memory.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from runner.contract.wire import AttemptToken


class StoreUnreachable(Exception):
    """The store did not answer. Nothing is known of the object; try again."""


class StoreRefused(Exception):
    """The store answered and said no: credentials, bucket or permissions are wrong."""


class ObjectMissing(Exception):
    """There is no such object."""


class ObjectTooLarge(Exception):
    """The object is larger than it may be. Nothing was read."""


@dataclass(frozen=True)
class StoredObject:
    """One object as the store lists it."""

    key: str
    size_bytes: int


class ArtifactStore(Protocol):
    """Every method raises StoreUnreachable when the store does not answer."""

    def upload_url(self, key: str, *, expires_s: int, max_bytes: int) -> str:
        """Return a URL that can PUT this one object, once or more, until it expires."""
        ...

    def download_url(self, key: str, *, expires_s: int, filename: str) -> str:
        """Return a URL that can GET this one object until it expires."""
        ...

    def head(self, key: str) -> StoredObject | None: ...

    def fetch(self, key: str, destination: Path, *, max_bytes: int) -> None:
        """Write the object to a file. Raises ObjectMissing or ObjectTooLarge."""
        ...

    def copy(self, source: str, target: str) -> None:
        """Copy inside the store. Raises ObjectMissing."""
        ...

    def put(self, key: str, content: bytes) -> None: ...

    def probe(self) -> None:
        """Return if objects can be written, read and removed."""
        ...


def incoming_key(site: str, token: AttemptToken, name: str) -> str:
    """Where a node's upload URL writes."""
    return f"incoming/{site}/{token.directory}/{name}"


def kept_key(token: AttemptToken, name: str) -> str:
    """Where the verified copy stands; no node ever gets a URL that writes here."""
    return f"artifacts/{token.run_id}/{token.attempt}/{name}"
