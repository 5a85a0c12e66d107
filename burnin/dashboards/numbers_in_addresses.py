"""Numbers that an address names. What is no number is as if it had not been named."""

from __future__ import annotations

from django.http import HttpRequest

DIGITS = 15


def whole_number(request: HttpRequest, name: str) -> int | None:
    """Return the number from 1 that `?name=` gives; None without one."""
    text = request.GET.get(name, "")
    if not (text.isascii() and text.isdecimal() and len(text) <= DIGITS):
        return None
    return int(text) or None
