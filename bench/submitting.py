"""P1: 1,000 runs from the operator's request to a Slurm job id that the hub knows.

Product: plan, render, rows, upload URLs, the site's queue, SSH, sbatch, the answers back in the
database. Reference: a bare loop of sbatch over the same scripts. A partition that is down holds
the jobs of both.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median

from bench import product, raw
from bench.place import Place
from bench.sampling import alternate, seconds
from bench.table import Line, at_most
from burnin.models import Attempt, Job
from burnin.states import RunState

RUNS = 1_000
ROUNDS = 3
LONGEST_ROUND_S = 120
TARGET = at_most(1.5, 1.2)


def measure(place: Place) -> Sequence[Line]:
    ours = product.running(place)
    scripts = place.directory("p1")
    ours.hold()
    try:
        pair = alternate(
            lambda: _submit(ours, scripts), lambda: _submit_bare(place, scripts), rounds=ROUNDS
        )
    finally:
        ours.let_go()
    return [
        Line(
            "P1",
            f"submit {RUNS:,} held runs",
            f"{median(pair.product):.2f} s",
            f"{median(pair.reference):.2f} s",
            pair.ratio,
            pair.ratio,
            TARGET,
            (f"reference: a local loop of sbatch over the same scripts; {pair.rounds}",),
        )
    ]


def _submit(ours: product.Product, scripts: Path) -> float:
    def whole_way() -> None:
        job = ours.start_job(RUNS)
        jobs.append(job)
        ours.await_state(job, RunState.SUBMITTED, RUNS, for_s=LONGEST_ROUND_S)

    jobs: list[Job] = []
    took_s = seconds(whole_way)
    raw.write_scripts(scripts, map(_nobodys, ours.attempts(jobs[0])))
    ours.cancel(jobs[0])
    ours.await_end(jobs[0], for_s=LONGEST_ROUND_S)
    return took_s


def _nobodys(attempt: Attempt) -> str:
    """Return the script without the token, by which the satellite would take it for ours."""
    return attempt.script.replace(f"--comment={attempt.token.comment}", "--comment=bare")


def _submit_bare(place: Place, scripts: Path) -> float:
    took_s = seconds(lambda: raw.submit_loop(place, scripts))
    place.cancel_all()
    return took_s
