"""Keeps what lets someone write out of the log: signed URLs and tokens."""

from __future__ import annotations

import logging
import re

_SECRETS = re.compile(r"((?:https?|rediss?)://[^\s?'\"\\]*)\?[^\s'\"\\]*|(Bearer\s+)\S+")
_PASSWORDS = re.compile(r"(://[^\s:/@'\"]*):[^\s/@'\"]+@")


class Redaction(logging.Filter):
    """Cuts the query off every URL, the password out of it, and what follows `Bearer`."""

    def filter(self, record: logging.LogRecord) -> bool:
        message = record.getMessage()
        if "://" in message or "Bearer" in message:
            record.msg, record.args = redacted(message), None
        if record.exc_info and not record.exc_text:
            record.exc_text = redacted(logging.Formatter().formatException(record.exc_info))
        return True


def redacted(text: str) -> str:
    return _PASSWORDS.sub(r"\1:…@", _SECRETS.sub(_without_secret, text))


def _without_secret(found: re.Match[str]) -> str:
    return f"{found[1]}?…" if found[1] else f"{found[2]}…"
