"""How large a node's caches are: what measures memory must not fit into them."""

from __future__ import annotations

from runner.facts import read_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def last_level_cache_bytes(root: Path) -> int | None:
    """Return the last-level caches of all sockets together; None where the kernel tells none."""
    found = {}
    for cache in (root / "sys/devices/system/cpu").glob("cpu[0-9]*/cache/index[0-9]*"):
        level, size = read_line(cache / "level"), _size(read_line(cache / "size"))
        if level and level.isdecimal() and size:
            found[(int(level), read_line(cache / "shared_cpu_list"))] = size
    last = max((level for level, _ in found), default=0)
    return sum(size for (level, _), size in found.items() if level == last) or None


def _size(text: str | None) -> int:
    """Read "32768K"."""
    digits, unit = (text or "")[:-1], (text or "")[-1:]
    return int(digits) * UNITS[unit] if digits.isdecimal() and unit in UNITS else 0
