"""A stop is heard wherever it comes: a signal interrupts its own thread at any line."""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from types import FrameType
from typing import Any

import pytest

from burnin.management.hardware_tests.interruptible import InterruptibleClock, interruptible

HANGS_AFTER_S = 5
LINES = 40  # more than a sleep executes


@pytest.fixture(autouse=True)
def alarm() -> Iterator[None]:
    def ring(number: int, frame: FrameType | None) -> None:
        raise TimeoutError("it hangs")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(HANGS_AFTER_S)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def sleep_and_interrupt_at(clock: InterruptibleClock, line: int) -> None:
    """Send ourselves Ctrl-C as the given line of the sleep is about to be executed."""
    left = line

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal left
        if event == "line":
            left -= 1
            if left == 0:
                sys.settrace(None)
                signal.raise_signal(signal.SIGINT)
        return trace

    sys.settrace(trace)
    try:
        clock.sleep(0.001)
    finally:
        sys.settrace(None)


@pytest.mark.parametrize("line", range(1, LINES))
def test_a_signal_in_any_line_of_a_sleep_is_heard(line: int) -> None:
    with interruptible() as clock:
        sleep_and_interrupt_at(clock, line)
        if not clock.why_stop():  # the sleep had fewer lines
            signal.raise_signal(signal.SIGINT)

        assert clock.why_stop() == "cancelled by the operator (Ctrl-C)"


def test_a_stop_wakes_who_sleeps_and_later_sleeps_are_whole() -> None:
    with interruptible() as clock:
        threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
        clock.sleep(60)
        assert clock.why_stop()
        begun = time.monotonic()
        clock.sleep(0.05)

    assert time.monotonic() - begun >= 0.05


def test_a_stop_between_two_sleeps_is_not_slept_over() -> None:
    with interruptible() as clock:
        clock.stop("a test")
        clock.sleep(60)

        assert clock.why_stop()


def test_a_second_ctrl_c_ends_us() -> None:
    with interruptible() as clock:
        signal.raise_signal(signal.SIGINT)
        assert clock.why_stop()

        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_what_was_ignored_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with interruptible() as clock:
            signal.raise_signal(signal.SIGHUP)

            assert clock.why_stop() == ""
    finally:
        signal.signal(signal.SIGHUP, before)
