"""The key in a form that asks for an act: sent twice, the form acts once."""

from __future__ import annotations

import uuid

from django.http import HttpRequest

KEY = "key"  # its name in the forms


class DamagedForm(ValueError):
    """What came is not what the page held; the message says what to do."""


def shown_key(request: HttpRequest) -> str:
    """Return the key for the form as it is shown: the one it came with, else a new one."""
    return request.POST.get(KEY) or str(uuid.uuid4())


def sent_key(request: HttpRequest) -> str:
    """Return what tells this form from the next one. Raises DamagedForm."""
    try:
        return str(uuid.UUID(shown_key(request)))
    except ValueError as error:
        raise DamagedForm("this form is damaged: open the page again") from error
