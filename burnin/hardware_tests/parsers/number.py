"""A number as a tool prints it: finite and in plain digits, or refused with its place."""

from __future__ import annotations

import math
import re

from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind

# A number has an end: a giant one is none, and turning it into an int would raise.
_WHOLE = re.compile(r"[+-]?[0-9]{1,20}")
_DECIMAL = re.compile(
    r"[+-]?(?:[0-9]{1,30}(?:\.[0-9]{0,30})?|\.[0-9]{1,30})(?:[eE][+-]?[0-9]{1,3})?"
)


def decimal(word: str, where: str) -> float:
    """Read "12", "0.5" or "1.2e-05"; `where` names the place in the refusal."""
    number = float(word) if _DECIMAL.fullmatch(word) else math.nan
    if not math.isfinite(number):
        raise ParseError(f"{where}: '{word:.40}' is no number", kind=RefusalKind.MALFORMED)
    return number


def whole(word: str, where: str) -> int:
    """Read "12" or "-3"; `where` names the place in the refusal."""
    if not _WHOLE.fullmatch(word):
        raise ParseError(f"{where}: '{word:.40}' is no whole number", kind=RefusalKind.MALFORMED)
    return int(word)


def count(word: str, where: str) -> int:
    """Read a whole number that cannot be negative."""
    number = whole(word, where)
    if number < 0:
        raise ParseError(f"{where}: {number} is negative", kind=RefusalKind.MALFORMED)
    return number


def amount(word: str, where: str) -> float:
    """Read a number that cannot be negative: a size, a speed, a time."""
    number = decimal(word, where)
    if number < 0:
        raise ParseError(f"{where}: {word} is negative", kind=RefusalKind.MALFORMED)
    return number
