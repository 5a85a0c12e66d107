"""Single values as nvidia-smi prints them: with a unit, or with a word instead of a number."""

from __future__ import annotations

import re
from collections.abc import Mapping

from burnin.hardware_tests.parsers.number import count, decimal
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind

_NAMING = frozenset({"index", "uuid", "gpu_uuid", "name", "pci.bus_id", "gpu_bus_id", "serial"})

# The GPU does not have it, or will not tell: not checked, which is neither 0 nor good.
_ABSENT = re.compile(
    r"|\[?(?:N/A|Not Supported|Not Available|Requested functionality has been deprecated|None)\]?",
    re.IGNORECASE,
)
_UNREADABLE = re.compile(r"\[?(?:Unknown Error|ERR!)\]?", re.IGNORECASE)
_LOST = re.compile(r"\[?GPU (?:is lost|requires reset)\]?", re.IGNORECASE)


def is_lost(values: Mapping[str, str]) -> bool:
    """Say whether the driver does not reach the GPU any more, from its values by name.

    It says so, or it can still name the GPU and reads nothing else of it.
    """
    rest = [word.strip() for name, word in values.items() if name not in _NAMING]
    says_so = any(_LOST.fullmatch(word) for word in rest)
    return says_so or (bool(rest) and all(_UNREADABLE.fullmatch(word) for word in rest))


def words(word: str | None) -> str | None:
    """Return the text of a value; None where there is none."""
    stripped = (word or "").strip()
    is_word = any(form.fullmatch(stripped) for form in (_ABSENT, _UNREADABLE, _LOST))
    return None if is_word else stripped


def measured(word: str | None, unit: str, where: str) -> float | None:
    """Read "121.38 W" or, where the header holds the unit, "121.38"; None where there is none."""
    text = words(word)
    if text is None:
        return None
    number, _, printed = text.partition(" ")
    if printed.strip() not in ("", unit):
        raise ParseError(f"{where} is in {printed}, not in {unit}", kind=RefusalKind.MALFORMED)
    return decimal(number, where)


def counted(word: str | None, where: str) -> int | None:
    """Read "3", or "16x" of a link's width; None where there is none."""
    text = words(word)
    return None if text is None else count(text.removesuffix("x"), where)


def mask(word: str | None, where: str) -> int | None:
    """Read "0x0000000000000048"; None where there is none."""
    text = words(word)
    if text is None:
        return None
    if not re.fullmatch(r"0x[0-9A-Fa-f]{1,16}", text):
        raise ParseError(f"{where}: '{text:.40}' is no bit mask", kind=RefusalKind.MALFORMED)
    return int(text, 16)


def yes(word: str | None, where: str) -> bool | None:
    """Read "Yes", "Enabled", "Active" and their opposites; None where there is none."""
    text = words(word)
    if text is None:
        return None
    if text in ("Yes", "Enabled", "Active"):
        return True
    if text in ("No", "Disabled", "Not Active"):
        return False
    raise ParseError(f"{where}: '{text:.40}' is neither yes nor no", kind=RefusalKind.MALFORMED)
