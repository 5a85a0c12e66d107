"""P7: how many Celery tasks 10,000 runs take, counted by the broker in both queues.

The jobs are held by a partition that is down and then cancelled: every run is planned, sent,
submitted, observed, ended, collected and judged, but no workload is started, for that would
take longer than a bench may. The tasks of P2's runs, which do run, stand in P2's notes.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from bench import product
from bench.broker import HUB, Pushes, orders_key
from bench.place import Place
from bench.table import Line, at_most
from burnin.states import RunState
from burnin.tests.e2e.stack import SITE

RUNS = 10_000
LONGEST_WAY_S = 420
TARGET = at_most(1, 0.1)


def measure(place: Place) -> Sequence[Line]:
    ours = product.running(place)
    orders = orders_key(SITE)
    ours.hold()
    began = time.monotonic()
    try:
        with Pushes(place, HUB, orders) as pushes:
            job = ours.start_job(RUNS)
            ours.await_state(job, RunState.SUBMITTED, RUNS, for_s=LONGEST_WAY_S)
            submitted_s = time.monotonic() - began
            ours.cancel(job)
            ours.await_end(job, for_s=LONGEST_WAY_S)
    finally:
        ours.let_go()
    took_s = time.monotonic() - began
    per_run = sum(pushes.counts.values()) / RUNS
    return [
        Line(
            "P7",
            f"Celery tasks per run, {RUNS:,} runs",
            f"{per_run:.4f}",
            "",
            None,
            per_run,
            TARGET,
            (
                f"{pushes.counts[HUB]} tasks in the hub's queue and {pushes.counts[orders]} orders"
                f" in {took_s:.0f} s ({submitted_s:.0f} s until all were submitted)",
                "held and cancelled: planned, sent, submitted, observed, ended, collected, judged",
            ),
        )
    ]
