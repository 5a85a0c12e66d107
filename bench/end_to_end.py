"""P2: 200 runs from the operator's request to 200 verdicts, and what that costs the CPUs (P4).

Reference: the same scripts with the same runner and uploads, submitted by a bare loop of sbatch
and waited for.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from statistics import median
from uuid import uuid4

from bench import product, raw
from bench.broker import HUB, Pushes, orders_key
from bench.place import Place
from bench.sampling import Pair, alternate, seconds
from bench.table import Line, at_most
from burnin.models import Job
from burnin.tests.e2e.stack import SITE
from burnin.workflow import orders, wiring
from fleet.models import Site
from runner.contract import artifacts
from runner.contract.wire import AttemptToken

RUNS = 200
ROUNDS = 3
LONGEST_ROUND_S = 120
URLS_LIVE_S = 3600
TARGET = at_most(1.4, 1.15)
CPU_TARGET = at_most(25, 10, "ms")


@dataclass(frozen=True)
class Costs:
    """Of each of the product's rounds: CPU seconds by process, and tasks by queue."""

    cpu_s: list[Mapping[str, float]] = field(default_factory=list)
    tasks: list[Mapping[str, int]] = field(default_factory=list)

    @property
    def cpu_ms_per_run(self) -> float:
        return median(sum(each.values()) for each in self.cpu_s) / RUNS * 1e3

    @property
    def tasks_per_run(self) -> float:
        return median(sum(each.values()) for each in self.tasks) / RUNS

    def __str__(self) -> str:
        return ", ".join(
            f"{name} {median(each[name] for each in self.cpu_s) / RUNS * 1e3:.1f}"
            for name in self.cpu_s[0]
        )


@dataclass(frozen=True)
class Measured:
    """What all rounds took, and what the product's used."""

    pair: Pair
    costs: Costs


def measure(place: Place) -> Sequence[Line]:
    found = measured(place)
    pair = found.pair
    return [
        Line(
            "P2",
            f"{RUNS} runs end to end, judged",
            f"{median(pair.product):.2f} s",
            f"{median(pair.reference):.2f} s",
            pair.ratio,
            pair.ratio,
            TARGET,
            (
                f"reference: the same scripts by a bare loop of sbatch, waited for; {pair.rounds}",
                f"{found.costs.tasks_per_run:.2f} Celery tasks and orders per run, ticks included",
            ),
        ),
        Line(
            "P4a",
            "hub and satellite CPU per run",
            f"{found.costs.cpu_ms_per_run:.1f} ms",
            "",
            None,
            found.costs.cpu_ms_per_run,
            CPU_TARGET,
            (f"ms per run: {found.costs}; a whole round's, idle ticks included",),
        ),
    ]


@cache
def measured(place: Place) -> Measured:
    """Measure once; P3 needs the same figures."""
    ours = product.running(place)
    scripts, costs = place.directory("p2"), Costs()
    _warm_up(ours)
    pair = alternate(
        lambda: _run(ours, place, scripts, costs),
        lambda: _run_bare(place, scripts),
        rounds=ROUNDS,
    )
    return Measured(pair, costs)


def overhead_per_run_s(place: Place) -> float:
    """Return the seconds that the product takes above the reference, for each run."""
    pair = measured(place).pair
    return (median(pair.product) - median(pair.reference)) / RUNS


def _warm_up(ours: product.Product) -> None:
    """The first job also brings the bundle to the site."""
    job = ours.start_job(product.NODES_USED)
    ours.await_end(job, for_s=LONGEST_ROUND_S)


def _run(ours: product.Product, place: Place, scripts: Path, costs: Costs) -> float:
    def whole_way() -> None:
        job = ours.start_job(RUNS)
        jobs.append(job)
        ours.await_end(job, for_s=LONGEST_ROUND_S)

    jobs: list[Job] = []
    before = ours.cpu_s()
    with Pushes(place, HUB, orders_key(SITE)) as pushes:
        took_s = seconds(whole_way)
    after = ours.cpu_s()
    costs.cpu_s.append({name: after[name] - before[name] for name in after})
    costs.tasks.append(pushes.counts)
    if ours.verdicts(jobs[0]) != {"passed": RUNS}:
        raise product.NotDone(f"of {RUNS} runs {ours.verdicts(jobs[0])}")
    raw.write_scripts(scripts, [each.script for each in ours.attempts(jobs[0])])
    contexts = [each.context for each in ours.attempts(jobs[0])]
    (scripts / "contexts.json").write_text(json.dumps(contexts))
    return took_s


def _run_bare(place: Place, scripts: Path) -> float:
    """Run the scripts of the round before under new run ids, prepared before the clock starts."""
    ready = place.directory(f"p2-{uuid4().hex[:8]}")
    contexts = json.loads((scripts / "contexts.json").read_text())
    texts = [each.read_text() for each in sorted(scripts.glob("*.sh"))]
    made = [_as_another_run(*pair) for pair in zip(texts, contexts, strict=True)]
    raw.write_scripts(ready, [script for script, _ in made])
    took_s = seconds(lambda: raw.run_all(place, ready))
    lost = [each for _, each in made if not (each / artifacts.METADATA).is_file()]
    if lost:
        raise product.NotDone(f"{len(lost)} of {RUNS} bare runs left no metadata.json")
    return took_s


def _as_another_run(script: str, context: Mapping[str, object]) -> tuple[str, Path]:
    """Prepare the attempt's directory as the login host does; return script and directory."""
    old = AttemptToken(str(context["run_id"]), 1)
    new = AttemptToken(str(uuid4()), 1)
    uploads = orders.upload_urls(
        wiring.store(), Site.objects.get(name=SITE), new, expires_s=URLS_LIVE_S
    )
    script = script.replace(f"--comment={old.comment}", "--comment=bare")
    script = script.replace(old.directory, new.directory)
    line = next(line for line in script.splitlines() if line.startswith("#SBATCH --output="))
    directory = Path(line.partition("=")[2]).parent
    directory.mkdir(mode=0o700)
    told = {**context, "run_id": new.run_id, "uploads": uploads}
    (directory / artifacts.CONTEXT).write_text(json.dumps(told))
    (directory / artifacts.CONTEXT).chmod(0o600)
    return script, directory
