"""Ctrl-C and its kin: the first stops the work, the next ones only the waiting."""

import signal
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stop(BaseException):
    """Somebody wants all of it ended. Not an Exception: nothing on the way may swallow it."""


class StopSignals:
    """Raises Stop once, in the main thread; from then on remembers that there is a hurry."""

    def __init__(self) -> None:
        self.asked = 0

    def listen(self) -> None:
        for number in SIGNALS:
            signal.signal(number, self._heard)

    def is_hurry(self) -> bool:
        return self.asked > 1

    def defer(self) -> None:
        """From now on nothing is raised: what ends must not be interrupted."""
        self.asked = max(self.asked, 1)

    def _heard(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        self.asked += 1
        if self.asked == 1:
            raise Stop
