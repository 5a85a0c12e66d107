"""Parts of a page that change by themselves.

In a template: `<div id="counts" data-live hx-get="?part=counts" hx-trigger="every 3s"
hx-swap="innerHTML">` around the fragment, and `<small class="muted" data-live-state="counts">`
where its age shall stand. The view answers `?part=counts` with `fragment(…)`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

STOP_POLLING = 286  # htmx: exchange the part once more, then ask no more
_AGE = re.compile(rb"(<time[^>]* data-age>)[^<]*")


def fragment(
    request: HttpRequest, template: str, context: Mapping[str, Any], *, is_final: bool = False
) -> HttpResponse:
    """Return the part as it is now, 304 if it is as the browser has it, 286 once it is final."""
    body = render_to_string(template, dict(context), request).encode()
    etag = f'"{hashlib.sha256(without_ages(body)).hexdigest()[:32]}"'
    if is_final:
        response = HttpResponse(body, status=STOP_POLLING)
    elif request.headers.get("If-None-Match") == etag:
        response = HttpResponse(status=304)
    else:
        response = HttpResponse(body)
    response["ETag"] = etag
    response["Cache-Control"] = "private, no-store"
    return response


def without_ages(body: bytes) -> bytes:
    """Return what makes a change: an age counts on in the browser by itself."""
    return _AGE.sub(rb"\1", body)
