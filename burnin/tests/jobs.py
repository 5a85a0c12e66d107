"""Jobs as the workflow plans them, with frozen steps, for tests of what is read from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from burnin.models import Job, JobNode, RunNode, TestRun
from burnin.models.limits import load_shipped
from burnin.tests.factories import a_job
from burnin.workflow.plan import JobRequest, StepRequest, freeze
from fleet.models import Node
from runner.contract.slugs import Slugs

TWO_TESTS = (Slugs.HELLO_WORLD, Slugs.MEMORY_STRESS)


def planned_job(
    nodes: Sequence[Node], *slugs: str, **fields: Any
) -> tuple[Job, dict[tuple[str, str], TestRun]]:
    """Return a job with one stage for each test, and its runs by node and test."""
    load_shipped()
    slugs = slugs or TWO_TESTS
    asked = tuple(
        StepRequest(slug, timeout_minutes=5, stage=stage) for stage, slug in enumerate(slugs, 1)
    )
    site = nodes[0].site
    names = [node.name for node in nodes]
    steps = freeze(JobRequest(site=site, node_names=names, steps=asked), nodes)
    job, _ = a_job(nodes, *slugs, steps=[each.as_json() for each in steps], **fields)
    return job, runs_by_name(job)


def runs_by_name(job: Job) -> dict[tuple[str, str], TestRun]:
    members = RunNode.objects.filter(job=job).select_related("run", "node")
    return {(each.node.name, each.run.slug): each.run for each in members}


def member(job: Job, name: str) -> JobNode:
    return JobNode.objects.get(job=job, node__name=name)
