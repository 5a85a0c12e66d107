"""Why a job's nodes did not pass: failures of one cause are one row, split by who owns them."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from burnin.models import Job, JobNode, RunNode
from burnin.models.severity import Severity
from burnin.models.signature import signature
from burnin.states import Cause, Verdict

NODES_LOOKED_AT = 500  # of a job, the worst first: what a page can read
_TROUBLE = (Verdict.FAILED.value, Verdict.ERRORED.value, Verdict.INCONCLUSIVE.value)


@dataclass(frozen=True)
class TroubledRun:
    """One run that did not pass, on one of its nodes."""

    run_id: uuid.UUID
    slug: str
    verdict: str
    cause: str
    reason: str
    node: str


@dataclass(frozen=True)
class Alike:
    """Runs of one test that did not pass for one cause, the worst first."""

    runs: tuple[TroubledRun, ...]

    @property
    def first(self) -> TroubledRun:
        return self.runs[0]

    @property
    def nodes(self) -> list[str]:
        return list(dict.fromkeys(run.node for run in self.runs))


@dataclass(frozen=True)
class TroubleByOwner:
    """The three-way split. `is_whole` is False when more nodes are in trouble than were read."""

    hardware: tuple[Alike, ...]
    test: tuple[Alike, ...]
    infrastructure: tuple[Alike, ...]
    is_whole: bool


def trouble_of(job: Job) -> TroubleByOwner:
    """Return the job's unpassed runs by owner and cause, in two queries."""
    bad = JobNode.objects.filter(job=job, severity__gte=Severity.INCONCLUSIVE)
    worst_first = bad.order_by("-severity", "worst", "node")
    nodes = list(worst_first.values_list("node_id", flat=True)[: NODES_LOOKED_AT + 1])
    shown = nodes[:NODES_LOOKED_AT]
    runs = _runs(job, shown)
    return TroubleByOwner(
        hardware=_grouped(run for run in runs if run.verdict == Verdict.FAILED),
        test=_grouped(run for run in runs if _is_of_the_test(run)),
        infrastructure=_grouped(
            run for run in runs if run.verdict != Verdict.FAILED and not _is_of_the_test(run)
        ),
        is_whole=len(nodes) == len(shown),
    )


def _is_of_the_test(run: TroubledRun) -> bool:
    return run.verdict == Verdict.ERRORED and run.cause != Cause.INFRASTRUCTURE


def _runs(job: Job, node_ids: Sequence[int]) -> list[TroubledRun]:
    rank = {node_id: place for place, node_id in enumerate(node_ids)}
    found = RunNode.objects.filter(job=job, node_id__in=node_ids, run__verdict__in=_TROUBLE)
    rows = found.order_by().values_list(
        *("node_id", "run_id", "run__slug", "run__verdict", "run__cause", "run__reason"),
        *("node__name", "run__step"),
    )
    return [
        TroubledRun(run_id, slug, verdict, cause, reason, name)
        for _, run_id, slug, verdict, cause, reason, name, _ in sorted(
            rows, key=lambda row: (rank[row[0]], row[7])
        )
    ]


def _grouped(runs: Iterable[TroubledRun]) -> tuple[Alike, ...]:
    """Group by test and what the reasons have in common, the largest group first."""
    groups: dict[tuple[str, str, str], list[TroubledRun]] = {}
    for run in runs:
        key = (run.slug, run.verdict, signature(run.reason, (run.node,)))
        groups.setdefault(key, []).append(run)
    return tuple(Alike(tuple(each)) for each in sorted(groups.values(), key=len, reverse=True))
