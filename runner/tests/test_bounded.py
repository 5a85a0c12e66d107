"""Head and tail of a stream within a size."""

from __future__ import annotations

from pathlib import Path

from runner.bounded import BoundedFile, Tail


def test_a_short_stream_is_kept_byte_for_byte(tmp_path: Path) -> None:
    bounded = BoundedFile(tmp_path / "out", limit_bytes=1000)

    bounded.write(b"a" * 500)
    bounded.write(b"b" * 372)
    bounded.close()

    assert (tmp_path / "out").read_bytes() == b"a" * 500 + b"b" * 372
    assert not bounded.truncated


def test_a_long_stream_keeps_head_and_tail_and_says_what_is_missing(tmp_path: Path) -> None:
    bounded = BoundedFile(tmp_path / "out", limit_bytes=1000)

    bounded.write(b"head" + b"." * 10_000 + b"tail")
    bounded.close()

    kept = (tmp_path / "out").read_bytes()
    assert kept.startswith(b"head")
    assert kept.endswith(b"tail")
    assert b"[runner: 9136 bytes dropped here]" in kept
    assert len(kept) <= 1000
    assert bounded.truncated


def test_single_bytes_are_bounded_like_blocks(tmp_path: Path) -> None:
    bounded = BoundedFile(tmp_path / "out", limit_bytes=1000)

    for index in range(5000):
        bounded.write(b"%d" % (index % 10))
    bounded.close()

    kept = (tmp_path / "out").read_bytes()
    assert len(kept) <= 1000
    assert kept.startswith(b"0123456789")
    assert kept.endswith(b"0123456789")


def test_the_head_is_on_disk_before_the_end(tmp_path: Path) -> None:
    bounded = BoundedFile(tmp_path / "out", limit_bytes=1000)

    bounded.write(b"progress\n")

    assert (tmp_path / "out").read_bytes() == b"progress\n"
    bounded.close()


def test_closing_twice_writes_once(tmp_path: Path) -> None:
    bounded = BoundedFile(tmp_path / "out", limit_bytes=1000)
    bounded.write(b"x" * 600)

    bounded.close()
    bounded.close()

    assert (tmp_path / "out").stat().st_size == 600


def test_a_tail_keeps_the_last_words() -> None:
    tail = Tail()

    tail.write(b"x" * 5000 + b"\xff the reason\n")

    assert tail.text.endswith("\ufffd the reason")
    assert len(tail.text) <= 2048
