"""Runs of one job, newest first."""

from __future__ import annotations

from django.db.models import QuerySet

from burnin.models import Job, MetricRow, TestRun


def runs_of(job: Job) -> QuerySet[TestRun]:
    """Return the job's runs with their nodes."""
    return TestRun.objects.filter(job=job).prefetch_related("members__node")


def metrics_of(job: Job) -> QuerySet[MetricRow]:
    """Return what the job's runs measured, test by test."""
    rows = MetricRow.objects.filter(result__run__job=job)
    return rows.select_related("result__run", "node").order_by("result_id", "position")


def names_of(run: TestRun) -> list[str]:
    """Return the names of a run's nodes in order, of what `runs_of` has read."""
    members = sorted(run.members.all(), key=lambda member: member.position)
    return [member.node.name for member in members]
