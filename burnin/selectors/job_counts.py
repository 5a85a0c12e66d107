"""How far jobs are: read from their counters, never counted."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.db.models import Count, Q

from burnin.models import Job, JobCount, JobNode, RunNode
from burnin.models.severity import Severity
from burnin.states import AT_WORK, VERDICTS, Verdict

# In the order of every legend. What is not judged runs, or waits for it.
SHOWN = (
    *(Verdict.PASSED, Verdict.FAILED, Verdict.ERRORED, Verdict.INCONCLUSIVE),
    *("running", Verdict.MEASURED, "waiting", Verdict.SKIPPED),
)
OPEN = ("running", "waiting")


@dataclass(frozen=True)
class StageCounts:
    """The runs of one stage by what is shown of them; `counts` adds up to `total`."""

    stage: int
    slugs: tuple[str, ...]
    counts: Mapping[str, int]
    is_open: bool

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def done(self) -> int:
        return self.total - sum(self.counts[each] for each in OPEN)

    @property
    def state(self) -> str:
        """The look of the stage: its worst verdict once it is done."""
        if self.done < self.total:
            return "running" if self.is_open else "untested"
        bad = (Verdict.FAILED, Verdict.ERRORED, Verdict.INCONCLUSIVE, Verdict.SKIPPED)
        return next((each.value for each in bad if self.counts[each]), Verdict.PASSED.value)


def shown_as(key: str) -> str:
    """Return where a counter's key, or a run's verdict or state, is shown."""
    if key in VERDICTS:
        return key
    return "running" if key in AT_WORK else "waiting"


def stage_counts(job: Job) -> list[StageCounts]:
    """Return the counts of every stage of the job, in one query."""
    by_stage: dict[int, Counter[str]] = {}
    for stage, key, count in JobCount.objects.filter(job=job).values_list("stage", "key", "count"):
        by_stage.setdefault(stage, Counter())[shown_as(key)] += count
    slugs: dict[int, dict[str, None]] = {}
    for step in job.steps:
        slugs.setdefault(step["stage"], {})[step["slug"]] = None
    return [
        StageCounts(
            stage=stage,
            slugs=tuple(slugs.get(stage, ())),
            counts=_all_shown(by_stage.get(stage, Counter())),
            is_open=job.state != "done" and stage <= job.stage,
        )
        for stage in sorted({*by_stage, *slugs})
    ]


def counts_of_jobs(job_ids: Iterable[uuid.UUID]) -> Mapping[uuid.UUID, Mapping[str, int]]:
    """Return the runs of each job by what is shown of them, in one query."""
    found: dict[uuid.UUID, Counter[str]] = {job_id: Counter() for job_id in job_ids}
    rows = JobCount.objects.filter(job__in=found).values_list("job_id", "key", "count")
    for job_id, key, count in rows:
        found[job_id][shown_as(key)] += count
    return {job_id: _all_shown(counts) for job_id, counts in found.items()}


def node_counts(job: Job) -> Mapping[str, int]:
    """Return the job's nodes by how they stand; they add up to the nodes asked for.

    A node with a run that did not pass is counted there at once, whatever it still has to do.
    """
    has_trouble = Q(severity__gte=Severity.INCONCLUSIVE)
    members = JobNode.objects.filter(job=job).order_by()
    settled = members.filter(has_trouble | Q(open_runs=0)).values("severity")
    found: Counter[str] = Counter()
    for severity, count in settled.annotate(Count("pk")).values_list("severity", "pk__count"):
        found[_WORDS[Severity(severity)]] += count
    still_open = job.node_count - found.total()
    at_work = min(_nodes_at_work(job), still_open) if still_open else 0
    return _all_shown(found + Counter(running=at_work, waiting=still_open - at_work))


def _nodes_at_work(job: Job) -> int:
    """Count the nodes without trouble so far on which a run is under way."""
    # Of the open stage alone: no other has runs under way, and a long job has many runs.
    at_work = RunNode.objects.filter(run__job=job, run__stage=job.stage, run__state__in=AT_WORK)
    clean = JobNode.objects.filter(job=job, severity__lt=Severity.INCONCLUSIVE, open_runs__gt=0)
    return at_work.filter(node__in=clean.values("node")).values("node").distinct().count()


_WORDS = {
    Severity.NONE: "waiting",
    Severity.MEASURED: Verdict.MEASURED.value,
    Severity.PASSED: Verdict.PASSED.value,
    Severity.SKIPPED: Verdict.SKIPPED.value,
    Severity.INCONCLUSIVE: Verdict.INCONCLUSIVE.value,
    Severity.ERRORED: Verdict.ERRORED.value,
    Severity.FAILED: Verdict.FAILED.value,
    Severity.FAULT: Verdict.FAILED.value,
}


def _all_shown(counts: Mapping[str, int]) -> dict[str, int]:
    return {str(each): counts.get(each, 0) for each in SHOWN}
