"""Signed permissions for one object of a store that has no signatures of its own.

The signature covers method, key, expiry, size and file name: change any and it is void.
"""

from dataclasses import dataclass
from typing import Literal
from urllib.parse import parse_qs, urlencode

from django.core.signing import BadSignature, Signer

from burnin.storage.store import require_key

Method = Literal["GET", "PUT"]

FIELDS = ("expires", "max", "name", "signature")


class GrantRefused(Exception):
    """The URL permits nothing: it is forged, altered, for something else, or has expired."""


@dataclass(frozen=True)
class Grant:
    """`expires_at` is in seconds since the epoch; `max_bytes` counts for PUT only."""

    method: Method
    key: str
    expires_at: int
    max_bytes: int = 0
    filename: str = ""


class GrantSigner:
    """Signs with the hub's secret, and verifies with its retired ones too."""

    def __init__(self, secret: str, *, retired: tuple[str | bytes, ...] = ()) -> None:
        self._signer = Signer(key=secret, salt="burnin.storage.grants", fallback_keys=list(retired))

    def sign(self, grant: Grant) -> str:
        """Return the query that, behind the object's address, grants this."""
        query = {
            "expires": str(grant.expires_at),
            "max": str(grant.max_bytes),
            "name": grant.filename,
            "signature": self._signer.signature(_signed(grant)),
        }
        return urlencode(query)

    def verify(self, method: Method, key: str, query: str, *, now: float) -> Grant:
        """Return what the query grants. Raises GrantRefused, with one sentence."""
        grant, signature = _read(method, key, query)
        try:
            self._signer.unsign(f"{_signed(grant)}{self._signer.sep}{signature}")
        except BadSignature:
            raise GrantRefused(
                "the signature is not for this: use the URL whole and unchanged, with the method "
                "it was made for"
            ) from None
        if now >= grant.expires_at:
            raise GrantRefused("the URL has expired: ask the hub for a fresh one")
        return grant


def _signed(grant: Grant) -> str:
    # No part but the last can hold a line break, so no two grants are signed alike.
    parts = (grant.method, grant.key, str(grant.expires_at), str(grant.max_bytes), grant.filename)
    return "\n".join(parts)


def _read(method: Method, key: str, query: str) -> tuple[Grant, str]:
    try:
        require_key(key)
        words = parse_qs(
            query, strict_parsing=bool(query), keep_blank_values=True, max_num_fields=8
        )
        expires, size, name, signature = (_only(words, each) for each in FIELDS)
        return Grant(method, key, int(expires), int(size), name), signature
    except (KeyError, ValueError):
        raise GrantRefused("the URL has no whole signature: use it as the hub gave it") from None


def _only(words: dict[str, list[str]], field: str) -> str:
    (value,) = words[field]
    return value
