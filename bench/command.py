"""`python -m bench [p1 …]`: measure, print one table, leave nothing running."""

from __future__ import annotations

import argparse
import os
import platform
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from types import FrameType

from bench.parts import PARTS, measure
from bench.place import Place
from bench.table import Line, NotMeasured, render

LONGEST_PART_S = 900


class TookTooLong(Exception):
    """A part did not end in its time."""


def main(argv: Sequence[str]) -> int:
    """Return 0 when everything asked for was measured, whether or not it met its target."""
    arguments = _parser().parse_args(argv)
    place = Place()
    signal.signal(signal.SIGTERM, _stop)
    lines: list[Line | NotMeasured] = []
    began = time.monotonic()
    try:
        if not arguments.keep:
            place.close()  # what an earlier bench left when it was killed
        for name in arguments.parts or list(PARTS):
            lines += measured(name, place)
    finally:
        place.stop()
        if not arguments.keep:
            place.close()
    print(f"\n{_circumstances(time.monotonic() - began)}\n\n{render(lines)}", flush=True)
    return 1 if any(isinstance(line, NotMeasured) for line in lines) else 0


def _parser() -> argparse.ArgumentParser:
    listed = "\n".join(f"  {name:4} {what}" for name, (_, what) in PARTS.items())
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description=f"{__doc__}\n\nparts (all of them if none is named):\n{listed}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("parts", nargs="*", metavar="PART", choices=[*PARTS, []])
    parser.add_argument(
        "--keep", action="store_true", help="use what an earlier bench left, and leave it"
    )
    return parser


def measured(name: str, place: Place) -> Sequence[Line | NotMeasured]:
    """Measure one part. It is an edge: what fails in one part must not cost the others."""
    what = PARTS[name][1]
    print(f"{name}: {what} …", file=sys.stderr, flush=True)
    began = time.monotonic()
    try:
        with _at_most(LONGEST_PART_S):
            return measure(name, place)
    except Exception as error:
        why = f"{type(error).__name__}: {error}".replace("\n", " ")[:400]
        return [NotMeasured(name.upper(), what, why)]
    finally:
        print(f"{name}: took {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)


@contextmanager
def _at_most(limit_s: float) -> Iterator[None]:
    def ring(_number: int, _frame: FrameType | None) -> None:
        raise TookTooLong(f"it was not done within {limit_s:.0f} s")

    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, limit_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _stop(number: int, _frame: FrameType | None) -> None:
    sys.exit(128 + number)


def _circumstances(took_s: float) -> str:
    load, _, _ = os.getloadavg()
    return (
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {os.cpu_count()} CPUs, "
        f"Linux {platform.release()}, Python {platform.python_version()}, "
        f"load at the end {load:.1f}, {took_s / 60:.1f} minutes"
    )
