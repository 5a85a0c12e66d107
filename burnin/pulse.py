"""A Celery worker or beat that touches a file while it has its broker, for `alive.py`.

FLEET_ALIVE_FILE names the file; without the variable nothing is written.
"""

import os
from pathlib import Path
from typing import Any

from celery import Celery, bootsteps, signals

ALIVE_FILE = "FLEET_ALIVE_FILE"
TOUCHED_EVERY_S = 5.0


class Pulse(bootsteps.StartStopStep):
    """Begins with each connection to the broker, and stops with it."""

    requires = ("celery.worker.consumer.tasks:Tasks",)

    def __init__(self, parent: Any, **options: Any) -> None:
        super().__init__(parent, **options)
        self._ticking: Any = None

    def start(self, parent: Any) -> None:
        touch()
        self._ticking = parent.timer.call_repeatedly(TOUCHED_EVERY_S, touch)

    def stop(self, parent: Any) -> None:
        if self._ticking is not None:
            self._ticking.cancel()


def give_pulse(app: Celery) -> None:
    """Have the app's workers touch the file, and its beat whenever it has rung a bell."""
    if ALIVE_FILE in os.environ:
        app.steps["consumer"].add(Pulse)
        signals.beat_init.connect(_beat_begins, weak=False)


def touch(**_: object) -> None:
    Path(os.environ[ALIVE_FILE]).touch()


def _beat_begins(**_: object) -> None:
    signals.after_task_publish.connect(touch, weak=False)
