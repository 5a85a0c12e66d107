"""What is alike in the reasons of many failures. Pure."""

import re
from collections.abc import Iterable

# Names, ids and numbers tell one case from the next; what is left tells one cause from another.
_PARTICULARS = re.compile(
    r"""
    [0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}  # a run's or a GPU's id
    | \b0x[0-9a-f]+\b
    | \b[0-9a-f]{12,}\b
    | [-+]?\d+(?:[.,:]\d+)*(?:e[-+]?\d+)?
    """,
    re.IGNORECASE | re.VERBOSE,
)
LONGEST_SIGNATURE = 200


def signature(reason: str, node_names: Iterable[str] = ()) -> str:
    """Return the reason without what is particular to one case, for grouping equal causes."""
    for name in sorted(node_names, key=len, reverse=True):
        reason = re.sub(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", "…", reason)
    # A detail in brackets names the device; the gate before it is the cause.
    text = re.sub(r"\s*\([^()]*\)", "", reason)
    return " ".join(_PARTICULARS.sub("#", text).split())[:LONGEST_SIGNATURE]
