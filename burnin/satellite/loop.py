"""A thread that does one step again and again until it is stopped."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

logger = logging.getLogger(__name__)

AFTER_A_DEFECT_S = 5.0
STOP_WITHIN_S = 5.0


class Loop:
    """Calls `step`, which returns the seconds until it wants to be called again."""

    def __init__(self, name: str, step: Callable[[], float]) -> None:
        self._step = step
        self._wanted = threading.Event()
        self._is_stopped = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def wake(self) -> None:
        """Have the next step done now."""
        self._wanted.set()

    def stop(self) -> None:
        """Let the step at work end; do not wait for one that hangs."""
        self._is_stopped = True
        self._wanted.set()
        if self._thread.is_alive():
            self._thread.join(STOP_WITHIN_S)

    def _run(self) -> None:
        while not self._is_stopped:
            self._wanted.clear()
            self._wanted.wait(self._one_step())

    def _one_step(self) -> float:
        try:
            return self._step()
        # The edge of a thread: a defect must neither end it in silence nor spin. The hub hears of
        # an observer's in the next heartbeat; of a sender's by having no heartbeat at all.
        except Exception:
            logger.exception("a step of %s failed", self._thread.name)
            return AFTER_A_DEFECT_S
