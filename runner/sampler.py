"""A command beside the workload. Only tests that sample pay for this import."""

from __future__ import annotations

import signal
import threading
import time

from runner.endings import ENDING_SIGNALS, CannotRun
from runner.process import GRACE_S, CommandResult

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.bounded import BoundedFile
    from runner.process import Command, Sink


class Background:
    """A sampler beside the workload; ended, group and all, when the `with` is left."""

    def __init__(
        self,
        argv: list[str],
        *,
        start: Callable[[tuple[Sink, Sink]], Command],
        capture: BoundedFile,
        on_start: Callable[[Background], None],
        on_end: Callable[[Background, CommandResult], None],
    ) -> None:
        self.capture = capture
        self._argv, self._start = argv, start
        self._on_start, self._on_end = on_start, on_end
        self._command: Command | None = None

    def __enter__(self) -> Background:
        self._started = time.monotonic()
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDING_SIGNALS)  # the thread inherits this
        try:
            command = self._start((self.capture.write, self.capture.write))
            self._pump = threading.Thread(target=command.pump, args=(None,), daemon=True)
            self._pump.start()
            self._command = command
            self._on_start(self)
        except CannotRun:
            self.capture.close()
            raise
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING_SIGNALS)
        return self

    def __exit__(self, *_exception: object) -> None:
        self.end()

    def end(self) -> None:
        """End the sampler. A second call does nothing."""
        command = self._command
        if command is None:
            return
        for number in (signal.SIGTERM, signal.SIGKILL):
            command.kill(number)
            self._pump.join(GRACE_S)
        result = CommandResult(
            argv=self._argv,
            exit_code=command.end(),
            duration_s=round(time.monotonic() - self._started, 3),
            timed_out=False,
        )
        self._command = None  # last: an end that was cut short is begun again
        self._on_end(self, result)
