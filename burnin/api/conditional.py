"""ETags from the rows as they were read: what did not change is not rendered again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from typing import Any

from django.conf import settings
from django.db import models
from django.http import HttpResponseBase
from django.utils.cache import get_conditional_response, patch_vary_headers
from rest_framework.request import Request
from rest_framework.response import Response

# Of the representations: a new one makes every ETag another.
API_VERSION = str(settings.SPECTACULAR_SETTINGS["VERSION"])


def answer(
    request: Request, state: Iterable[Any], render: Callable[[], Response]
) -> HttpResponseBase:
    """Answer 304 if the caller holds what these values make, else what `render` returns."""
    etag = f'W/"{_digest(state)}"'
    unchanged = get_conditional_response(request._request, etag=etag)
    response = render() if unchanged is None else unchanged
    response["ETag"] = etag
    # Nobody between us and the caller may keep it; the caller asks each time.
    response["Cache-Control"] = "private, no-cache"
    patch_vary_headers(response, ("Authorization", "Cookie"))
    return response


def state_of(row: models.Model) -> list[Any]:
    """Return what was read of a row, of the rows it points to their names, of prefetched ones all.

    What was deferred is not shown, and does not count.
    """
    own = [
        row.__dict__[field.attname]
        for field in row._meta.concrete_fields
        if field.attname in row.__dict__
    ]
    named = [_name(row._state.fields_cache[name]) for name in sorted(row._state.fields_cache)]
    prefetched = getattr(row, "_prefetched_objects_cache", {})
    return [own, named, [[state_of(each) for each in prefetched[name]] for name in prefetched]]


def _name(row: models.Model | None) -> Any:
    # Not str(): that of some rows asks the database for others.
    return None if row is None else (row.pk, row.__dict__.get("name"), row.__dict__.get("username"))


def _digest(state: Iterable[Any]) -> str:
    digest = hashlib.blake2b(API_VERSION.encode(), digest_size=16)
    for each in state:
        digest.update(repr(each).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
