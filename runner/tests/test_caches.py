"""The last-level caches, as Linux describes them below /sys."""

from __future__ import annotations

from pathlib import Path

from runner.caches import last_level_cache_bytes

MIB = 1 << 20


def describe(root: Path, cpu: int, index: int, level: str, size: str, shared: str) -> None:
    cache = root / f"sys/devices/system/cpu/cpu{cpu}/cache/index{index}"
    cache.mkdir(parents=True)
    for name, text in (("level", level), ("size", size), ("shared_cpu_list", shared)):
        (cache / name).write_text(text + "\n")


def test_each_socket_counts_once_and_smaller_levels_not_at_all(tmp_path: Path) -> None:
    for cpu, shared in ((0, "0-1"), (1, "0-1"), (2, "2-3"), (3, "2-3")):
        describe(tmp_path, cpu, 2, "2", "2048K", str(cpu))
        describe(tmp_path, cpu, 3, "3", "32768K", shared)

    assert last_level_cache_bytes(tmp_path) == 64 * MIB


def test_without_a_third_level_the_second_is_the_last(tmp_path: Path) -> None:
    describe(tmp_path, 0, 1, "1", "32K", "0")
    describe(tmp_path, 0, 2, "2", "1M", "0-3")

    assert last_level_cache_bytes(tmp_path) == MIB


def test_what_the_kernel_does_not_tell_is_unknown(tmp_path: Path) -> None:
    assert last_level_cache_bytes(tmp_path) is None
    describe(tmp_path, 0, 3, "3", "many", "0")
    assert last_level_cache_bytes(tmp_path) is None
