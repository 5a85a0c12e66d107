"""Ctrl-C and its kin while a run is followed: the run is cancelled, and its end still told."""

import os
import select
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from burnin.workflow.wiring import SystemClock

STOPS = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM", signal.SIGHUP: "SIGHUP"}


class InterruptibleClock(SystemClock):
    """Sleeps until the time is over or somebody wants to stop.

    A signal may come while `sleep` runs, in the same thread: whatever takes a lock, as an Event
    does, would wait for itself. A pipe takes none.
    """

    def __init__(self) -> None:
        self._words = ""
        self._woken, self._wake = os.pipe()

    def sleep(self, seconds: float) -> None:
        if select.select([self._woken], [], [], seconds)[0]:
            os.read(self._woken, 1)

    def stop(self, words: str) -> None:
        """Have the run cancelled and the next sleep end at once. Signal handlers may call this."""
        self._words = words
        os.write(self._wake, b"!")

    def why_stop(self) -> str:
        return f"cancelled by the operator ({self._words})" if self._words else ""

    def close(self) -> None:
        os.close(self._woken)
        os.close(self._wake)


@contextmanager
def interruptible() -> Iterator[InterruptibleClock]:
    """The first Ctrl-C cancels the run and waits for Slurm's word; a second one ends us.

    So does what ends a terminal, unless (like nohup) somebody had it ignored.
    """
    clock = InterruptibleClock()
    before = {number: signal.getsignal(number) for number in STOPS}
    heeded = [number for number in STOPS if before[number] is not signal.SIG_IGN]

    def on_signal(number: int, frame: FrameType | None) -> None:
        restore()
        clock.stop(STOPS[signal.Signals(number)])

    def restore() -> None:
        for number in heeded:
            signal.signal(number, before[number])

    for number in heeded:
        signal.signal(number, on_signal)
    try:
        yield clock
    finally:
        restore()
        clock.close()
