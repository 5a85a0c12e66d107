"""Which part measures what. Modules are named, not imported: each part loads only its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import cast

from bench import hub
from bench.place import Place
from bench.table import Line

Part = Callable[[Place], Sequence[Line]]

NO_HUB = frozenset({"p4", "p5"})  # the others use the hub's rows from this process
# What the hub's processes would meddle with: their rows are none of its own, or their jobs.
ALONE = frozenset({"p4", "p5", "p8", "p9", "p12"})
# In the order in which they run: what leaves many jobs behind in Slurm comes last.
PARTS = {
    "p4": ("bench.runner_start", "CPU of the runner from its start to the workload"),
    "p8": ("bench.moves", "state writes for 10,000 runs"),
    "p9": ("bench.matrix", "the page of a job, over 5 million results (P9, P10)"),
    "p12": ("bench.collecting", "artifact collection"),
    "p1": ("bench.submitting", "submit 1,000 held runs"),
    "p2": ("bench.end_to_end", "200 runs to their results, and the CPU of hub and satellite (P4)"),
    "p3": ("bench.peers", "the same by ReFrame and submitit"),
    "p7": ("bench.tasks", "Celery tasks for 10,000 runs"),
    "p5": ("bench.observing", "observe tick with 10,000 live runs"),
}


def measure(name: str, place: Place) -> Sequence[Line]:
    """Measure the part `name`, a key of PARTS."""
    if name in ALONE:
        place.stop()
    if name not in NO_HUB:
        hub.set_up(place)  # models can be imported only after that
    part = cast("Part", import_module(PARTS[name][0]).measure)
    return part(place)
