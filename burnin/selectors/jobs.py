"""Jobs, newest first, with how far each is."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from burnin.models import Job, TestRun
from burnin.selectors.job_counts import counts_of_jobs
from burnin.selectors.job_times import ends_at


@dataclass(frozen=True)
class ListedJob:
    """A job with its runs by what is shown of them, and when it may be done, if that is known."""

    job: Job
    counts: Mapping[str, int]
    ends_at: datetime | None

    @property
    def total(self) -> int:
        return sum(self.counts.values())


def jobs_at(sites: QuerySet[Any]) -> QuerySet[Job]:
    """Return the jobs of these sites; what a list does not show is not read."""
    jobs = Job.objects.filter(site__in=sites).select_related("site", "preset", "requested_by")
    return jobs.defer("steps")


def visible_job(job_id: uuid.UUID, sites: QuerySet[Any]) -> Job | None:
    """Return the job if it is at one of these sites."""
    found = Job.objects.filter(pk=job_id, site__in=sites)
    return found.select_related("site", "preset", "requested_by").first()


def origin_of(job: Job) -> uuid.UUID | None:
    """Return the job that this one repeats; None for one that was started anew.

    Any run says it: all of a re-run repeat runs of one job.
    """
    runs = TestRun.objects.filter(job=job).order_by()
    return next(iter(runs.values_list("rerun_of__job_id", flat=True)[:1]), None)


def listed(jobs: Sequence[Job], now: datetime) -> list[ListedJob]:
    """Return these jobs with their counts and ends, in three queries."""
    counts = counts_of_jobs([job.pk for job in jobs])
    ends = ends_at(jobs, now)
    return [ListedJob(job, counts[job.pk], ends.get(job.pk)) for job in jobs]
