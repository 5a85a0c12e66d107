"""A small fleet with something of everything, for tests of pages and for looking at them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from burnin.hardware_tests.metadata import NodeFacts
from burnin.models import Job, TestRun
from burnin.models.part_health import Part, PartHealth
from burnin.models.weighing import weigh_again
from burnin.states import Cause, RunState, Verdict
from burnin.tests.factories import (
    a_class,
    a_job,
    a_preset,
    a_site,
    bring_to,
    judge,
    nodes_of,
)
from burnin.workflow.clocks import SKEW
from fleet.models import HardwareOperation, Node, Site
from runner.contract.slugs import Slugs

SLUGS = (Slugs.HELLO_WORLD, Slugs.MEMORY_STRESS)


@dataclass(frozen=True)
class World:
    """One site whose nodes stand in every way: n1 accepted, then as `PLACES` says."""

    site: Site
    nodes: list[Node]
    job: Job


PLACES = ("accepted", "failing", "suspect", "untested", "stale", "skipped", "running", "waiting")


def facts_of(node: Node) -> list[NodeFacts]:
    return [
        NodeFacts(node_name=node.name, hostname=node.name, kernel="6.1", dmi_serial=node.dmi_serial)
    ]


def a_result(
    node: Node,
    verdict: Verdict,
    slug: str,
    *,
    at: datetime,
    reason: str = "",
    cause: Cause = Cause.NONE,
) -> TestRun:
    """Judge one run of a test on the node, in a job of its own that is done."""
    job, runs = a_job([node], slug, now=at)
    judge(runs, verdict, cause=cause, reason=reason, now=at, facts=facts_of(node))
    Job.objects.filter(pk=job.pk).update(
        state="done", finished_at=at, verdict="passed" if verdict is Verdict.PASSED else "failed"
    )
    return TestRun.objects.get(pk=runs[0].pk)


def a_world(now: datetime, *, count: int = 8, name: str = "east") -> World:
    """Make a fleet of at least 8 nodes, each in its place, and one job that is under way."""
    kind = a_class()
    if not kind.acceptances.exists():
        a_preset("cpu-quick", *SLUGS, accepts=kind)
    site = a_site(name, heartbeat_at=now, checked_at=now)
    site.reach = {"version": "1", "login_host": "", "slurmctld": "", SKEW: 0.0}
    site.save()
    nodes = nodes_of(site, count, seen_at=now)
    earlier = now - timedelta(hours=5)
    for place, node in enumerate(nodes):
        _stand(node, PLACES[place % len(PLACES)], earlier)
    working = [node for place, node in enumerate(nodes) if place % len(PLACES) >= 6]
    job, runs = a_job(working, *SLUGS, now=now)
    bring_to(runs[::2][: max(1, len(working) // 2)], RunState.RUNNING, now=now)
    for part in Part:
        PartHealth.objects.note(part, is_well=True, words="well", now=now)
    weigh_again([node.pk for node in nodes], now=now)
    return World(site, nodes, job)


def _stand(node: Node, place: str, at: datetime) -> None:
    hello, memory = SLUGS
    a_result(node, Verdict.PASSED, hello, at=at)
    if place == "failing":
        a_result(node, Verdict.FAILED, memory, at=at, reason="Memory errors 3, allows at most 0")
    elif place == "suspect":
        reason = f"the node {node.name} vanished (NODE_FAIL)"
        a_result(node, Verdict.INCONCLUSIVE, memory, at=at, reason=reason)
    elif place == "untested":
        reason = "stressapptest is not on the node's PATH"
        a_result(node, Verdict.ERRORED, memory, at=at, reason=reason, cause=Cause.TEST)
    else:
        a_result(node, Verdict.PASSED, memory, at=at)
    if place == "stale":
        HardwareOperation.objects.create(
            node=node, operation="dimm-swap", performed_at=at + timedelta(hours=1), note="RMA-4388"
        )
    if place == "skipped":
        node.excluded_because = "RMA-4471: back to the vendor"
        node.save()
