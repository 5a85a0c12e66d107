"""P5: one look of the satellite at 10,000 live jobs, none of which has changed.

Product: a whole tick of the satellite's observer over SSH: the query, parsing, matching, the
comparison with what the hub was told, and the (empty) outbox. Reference: one bare `squeue`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from uuid import uuid4

from bench.place import HELD, Place
from bench.sampling import alternate, seconds
from bench.table import Line, at_most
from burnin.satellite.config import PaceConfig, cluster_at, load_site
from burnin.satellite.doubts import Doubts
from burnin.satellite.messages import FactAnswer
from burnin.satellite.observer import Observer
from burnin.satellite.outbox import Outbox
from burnin.satellite.submitter import Submitter
from burnin.satellite.tracker import Tracker
from burnin.satellite.unwanted import Unwanted

LIVE = 10_000
ROUNDS = 11
NARROW = ("squeue", "-h", "-t", "all", "-o", "%i %T")
AS_WIDE = ("squeue", "-h", "-t", "all", "-O", "JobID:0|,State:0|,exit_code:0|,DerivedEC:0|,"
           "NodeList:0|,UserName:0|,Reason:0|,Comment:0")  # fmt: skip
NOT_NOW_S = 180.0  # the longest that a satellite may be told; the ticks take some seconds
TARGET = at_most(1.5, 1.2)
FILL = """
for id in $(cat "$1"); do
    sbatch --parsable --hold --partition="$2" --exclusive --nodes=1 --time=60 --no-requeue \\
        --job-name="bi-${id:0:8}-1" --comment="$id:1" --output=/dev/null "$3" >/dev/null
done
"""


def measure(place: Place) -> Sequence[Line]:
    place.await_forgotten()
    fill(place, LIVE)
    try:
        return [_line(place)]
    finally:
        place.cancel_all()


def fill(place: Place, count: int) -> None:
    """Hold that many jobs in the queue, each with a token of its own."""
    directory = place.directory("p5")
    script = directory / "script.sh"
    script.write_text("#!/bin/sh\nexit 0\n")
    ids = directory / "ids"
    ids.write_text("".join(f"{uuid4()}\n" for _ in range(count)))
    place.slurm("bash", "-euc", FILL, "fill", ids, HELD, script, timeout_s=400)


def _line(place: Place) -> Line:
    tick, tracked = _observer(place.cluster.site_toml)
    if tracked() != LIVE:
        raise RuntimeError(f"the satellite follows {tracked()} jobs, not {LIVE}")
    pair = alternate(
        lambda: seconds(tick), lambda: seconds(lambda: place.slurm(*NARROW)), rounds=ROUNDS
    )
    as_wide_s = median(seconds(lambda: place.slurm(*AS_WIDE)) for _ in range(5))
    return Line(
        "P5",
        f"observe tick, {LIVE:,} live runs, no change",
        f"{median(pair.product) * 1e3:.0f} ms",
        f"{median(pair.reference) * 1e3:.0f} ms",
        pair.ratio,
        pair.ratio,
        TARGET,
        (
            f'reference: `{" ".join(NARROW[:-1])} "{NARROW[-1]}"`, local; {pair.rounds}',
            f"a bare squeue of all the fields that the product reads: {as_wide_s * 1e3:.0f} ms",
        ),
    )


def _observer(site_toml: Path) -> tuple[Callable[[], float], Callable[[], int]]:
    """Return the satellite's tick after its first report, and how many jobs it follows."""
    cluster, outbox, tracker = cluster_at(load_site(site_toml)), Outbox(), Tracker()
    doubts = Doubts()
    observer = Observer(
        cluster,
        outbox,
        tracker,
        doubts=doubts,
        unwanted=Unwanted(),
        submitter=Submitter(cluster, outbox, tracker, doubts, now=_now),
        pace=PaceConfig(nodes_s=NOT_NOW_S, snapshot_s=NOT_NOW_S),
        now=_now,
        clock=time.monotonic,
    )
    observer.step()
    while batch := outbox.batch():
        outbox.settle(FactAnswer(acknowledged=tuple(each.id for each in batch.facts)))

    def tick() -> float:
        delay_s = observer.step()
        if len(outbox):
            raise RuntimeError(f"a tick without a change had {len(outbox)} facts to tell")
        return delay_s

    return tick, lambda: len(tracker.everything())


def _now() -> datetime:
    return datetime.now(UTC)
