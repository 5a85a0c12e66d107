"""What every worker is told, and where it is."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def node_name() -> str:
    return os.environ.get("SLURMD_NODENAME") or os.uname().nodename


def split_words(arguments: Sequence[str]) -> dict[str, str]:
    """Return `name=value` words by name."""
    return dict(word.split("=", 1) for word in arguments)
