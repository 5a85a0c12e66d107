"""How a run ends before its workload does: it could not be measured, a deadline, a signal."""

from __future__ import annotations

import signal

from runner.contract.wire import Outcome, margin_s

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

ENDING_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGALRM)


class CannotRun(Exception):
    """It could not be measured. The message is one sentence an operator can act on."""


class EndedEarly(BaseException):
    """The deadline or a signal ended the workload. No executor may swallow this."""

    def __init__(self, outcome: str, reason: str) -> None:
        super().__init__(reason)
        self.outcome, self.reason = outcome, reason


class Endings:
    """Turns SIGTERM, SIGINT and the deadline into one `EndedEarly`, raised while armed.

    Before and after that a signal is only remembered, so that clean-up is never cut short.
    """

    def __init__(self, *, time_limit_s: float, elapsed_s: float) -> None:
        self._limit_s = time_limit_s
        self._left_s = max(time_limit_s - margin_s(time_limit_s) - elapsed_s, 0.001)
        self._first: EndedEarly | None = None
        self._armed = False

    def listen(self) -> None:
        for number in ENDING_SIGNALS:
            signal.signal(number, self._on_signal)
        signal.setitimer(signal.ITIMER_REAL, self._left_s)

    def arm(self) -> None:
        self._armed = True
        if self._first:
            self._raise(self._first)

    def disarm(self) -> None:
        self._armed = False

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        self._first = self._first or self._ending_of(number)
        if self._armed:
            self._raise(self._first)

    def _raise(self, ending: EndedEarly) -> None:
        self._armed = False
        raise ending

    def _ending_of(self, number: int) -> EndedEarly:
        if number == signal.SIGALRM:
            margin = margin_s(self._limit_s)
            return EndedEarly(
                Outcome.TIMED_OUT,
                f"the workload had not ended {margin:g} s before the job's limit"
                f" of {self._limit_s:g} s; give it a longer limit",
            )
        name = signal.Signals(number).name
        return EndedEarly(Outcome.INTERRUPTED, f"{name} ended the workload: the job was cancelled")
