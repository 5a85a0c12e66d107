"""One run for many nodes: who takes part, who leaves, when it is sent, and whom it accuses."""

import json
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from burnin.models import Attempt, Job, JobNode, LatestResult, PairMetric, TestRun
from burnin.models.audit import Actor
from burnin.satellite.messages import JobOrder
from burnin.slurm.fake import Workload
from burnin.states import RunState, Verdict
from burnin.tests.attempts import write_attempt
from burnin.tests.factories import a_class
from burnin.tests.hardware_tests.pairwise.reports import links, ping_pong
from burnin.tests.models.world import counters
from burnin.tests.workflow.simulated import Hub, make_hub
from burnin.tests.workflow.workloads import failing, hello
from burnin.workflow.bells import Silence
from burnin.workflow.dispatch import usable_nodes
from burnin.workflow.plan import PlanRefused, StepRequest
from burnin.workflow.rerun import rerun_failed
from fleet.models import Node, Site
from runner.contract.slugs import Slugs
from runner.contract.wire import AttemptToken

pytestmark = pytest.mark.django_db

HELLO = StepRequest(Slugs.HELLO_WORLD, timeout_minutes=5)
SHARED = StepRequest(Slugs.MPI_ALL_REDUCE, timeout_minutes=5)
AFTERWARDS = replace(SHARED, stage=2)


def all_reduce(order: JobOrder, *, wrong: int = 0) -> Workload:
    """An all-reduce over the nodes it was sent to, which Slurm lists in another order."""
    nodes = sorted(json.loads(order.context)["node_names"], reverse=True)
    sizes = [
        {"bytes": size, "times_s": [0.1], "wrong": [wrong] + [0] * (len(nodes) - 1)}
        for size in (8, 1 << 20)
    ]
    report = {
        "operation": "all-reduce",
        "ranks": len(nodes),
        "nodes": nodes,
        "library": "MPICH",
        "sizes": sizes,
    }
    with TemporaryDirectory() as directory:
        write_attempt(
            Path(directory),
            token=AttemptToken(order.run_id, order.attempt),
            results={"mpi-collective.json": json.dumps(report)},
            slug=Slugs.MPI_ALL_REDUCE,
            node_names=nodes,
        )
        files = {path.name: path.read_bytes() for path in Path(directory).iterdir()}
    return Workload(duration_s=10, files=files)


def any_workload(order: JobOrder) -> Workload:
    is_shared = json.loads(order.context)["slug"] == Slugs.MPI_ALL_REDUCE
    return all_reduce(order) if is_shared else hello(order)


def hub_of(*names: str) -> Hub:
    hub = make_hub(*names)
    hub.site.workload = any_workload
    return hub


def shared_runs(job: Job) -> list[tuple[list[str], str]]:
    runs = TestRun.objects.filter(job=job, slug=Slugs.MPI_ALL_REDUCE).order_by("created_at")
    return sorted(
        (list(run.members.order_by("position").values_list("node__name", flat=True)), run.verdict)
        for run in runs
    )


def test_all_nodes_share_one_run_and_one_slurm_job() -> None:
    hub = hub_of("n1", "n2", "n3")
    job = hub.plan(SHARED)

    hub.advance(60)

    assert shared_runs(job) == [(["n1", "n2", "n3"], "passed")]
    script = Attempt.objects.get().script
    assert "#SBATCH --nodes=3\n#SBATCH --nodelist=n1,n2,n3\n" in script
    assert set(LatestResult.objects.values_list("node__name", "verdict")) == {
        (name, "passed") for name in ("n1", "n2", "n3")
    }


def test_a_failed_collective_accuses_no_member_and_clears_none() -> None:
    hub = hub_of("n1", "n2")
    hub.site.workload = lambda order: all_reduce(order, wrong=3)
    job = hub.plan(SHARED)

    hub.advance(60)

    assert shared_runs(job) == [(["n1", "n2"], "failed")]
    assert set(LatestResult.objects.values_list("verdict", flat=True)) == {"inconclusive"}


def test_a_node_that_failed_a_gate_is_listed_and_the_others_go_on() -> None:
    hub = hub_of("n1", "n2", "n3")
    hub.site.workload = lambda order: (
        failing(order) if '"node_names": ["n2"]' in order.context else any_workload(order)
    )
    job = hub.plan(HELLO, AFTERWARDS)

    hub.advance(120)

    assert shared_runs(job) == [(["n1", "n3"], "passed"), (["n2"], "skipped")]
    left = TestRun.objects.get(verdict=Verdict.SKIPPED)
    assert left.reason.startswith("single-node.hello-world in stage 1 failed: ")
    assert not JobNode.objects.filter(job=job, open_runs__gt=0).exists()
    assert counters(job) == {
        (1, "passed"): 2,
        (1, "failed"): 1,
        (2, "passed"): 1,
        (2, "skipped"): 1,
    }


def test_one_node_that_is_left_alone_is_skipped_and_says_why() -> None:
    hub = hub_of("n1", "n2")
    hub.site.workload = lambda order: (
        failing(order) if '"node_names": ["n2"]' in order.context else any_workload(order)
    )
    job = hub.plan(HELLO, AFTERWARDS)

    hub.advance(120)

    assert shared_runs(job) == [(["n1"], "skipped"), (["n2"], "skipped")]
    alone = TestRun.objects.get(members__node__name="n1", stage=2)
    assert alone.reason == (
        "multi-node.mpi-all-reduce needs at least 2 nodes, and only one is left"
    )


def test_when_all_leave_each_is_listed_with_its_reason() -> None:
    hub = hub_of("n1", "n2")
    hub.site.workload = failing
    job = hub.plan(HELLO, AFTERWARDS)

    hub.advance(120)

    assert shared_runs(job) == [(["n1"], "skipped"), (["n2"], "skipped")]
    assert not JobNode.objects.filter(job=job, open_runs__gt=0).exists()


def test_a_node_that_cannot_be_used_is_listed_beside_the_run_of_the_others() -> None:
    hub = hub_of("n1", "n2", "n3")
    Node.objects.filter(name="n2").update(excluded_because="under repair")

    job = hub.plan(SHARED)
    hub.advance(60)

    assert shared_runs(job) == [(["n1", "n3"], "passed"), (["n2"], "skipped")]


def test_one_node_is_not_enough() -> None:
    hub = hub_of("n1")

    with pytest.raises(PlanRefused, match="needs at least 2 nodes, and one is named: name more"):
        hub.plan(SHARED)


def pair_over_mpi(order: JobOrder) -> Workload:
    """The bandwidth of n1 and n2, whose way back is twice as slow."""
    times = {"n1": [0.01] * 20, "n2": [0.02] * 20}
    with TemporaryDirectory() as directory:
        write_attempt(
            Path(directory),
            token=AttemptToken(order.run_id, order.attempt),
            results={
                "links.json": links(transport="mpi"),
                "mpi-ping-pong.json": ping_pong("bandwidth", 8 << 20, times),
            },
            slug=Slugs.PAIR_NET_BANDWIDTH,
            node_names=["n1", "n2"],
            params={"devices": []},
        )
        files = {path.name: path.read_bytes() for path in Path(directory).iterdir()}
    return Workload(duration_s=10, files=files)


def test_a_pair_is_one_run_and_what_each_direction_did_is_kept() -> None:
    hub = make_hub("n1", "n2")
    hub.site.workload = pair_over_mpi

    job = hub.plan(StepRequest(Slugs.PAIR_NET_BANDWIDTH, timeout_minutes=5))
    hub.advance(120)

    run = TestRun.objects.get(job=job)
    assert (run.verdict, run.members.count()) == ("passed", 2), run.reason
    kept = PairMetric.objects.filter(name="bandwidth").order_by("value")
    assert [(str(each.source.name), round(each.value, 2)) for each in kept] == [
        ("n2", 3.36),
        ("n1", 6.71),
    ]


def test_more_than_a_pair_is_refused_until_all_pairs_of_a_group_can_be_run() -> None:
    hub = hub_of("n1", "n2", "n3")

    with pytest.raises(PlanRefused, match="runs on one pair of nodes, and 3 are named: name two"):
        hub.plan(StepRequest(Slugs.PAIR_NET_BANDWIDTH, timeout_minutes=5))


def test_nodes_of_two_classes_share_no_run() -> None:
    hub = hub_of("n1", "n2")
    other = a_class("other")
    Node.objects.filter(name="n2").update(resource_class=other)

    with pytest.raises(PlanRefused, match="nodes of one resource class, and these are of cpu-gen"):
        hub.plan(SHARED)


def test_it_is_not_sent_while_one_of_its_nodes_is_full_and_younger_runs_wait_behind_it() -> None:
    hub = hub_of("n1", "n2")
    Site.objects.update(queue_ahead=1)
    hub.site.workload = lambda order: replace(any_workload(order), duration_s=60)
    hub.plan(HELLO, nodes=["n1"])
    hub.work()
    shared = hub.plan(SHARED)
    younger = hub.plan(HELLO, nodes=["n2"])

    hub.work()
    waiting = TestRun.objects.filter(state=RunState.PLANNED).count()
    hub.advance(400, tick_s=20)

    assert waiting == 2
    assert shared_runs(shared) == [(["n1", "n2"], "passed")]
    assert counters(younger) == {(1, "passed"): 1}
    moved = {run.job_id: run.moved_at for run in TestRun.objects.all()}
    assert moved[shared.pk] < moved[younger.pk]


def test_a_member_that_stays_down_is_let_go_and_the_others_go_on() -> None:
    hub = hub_of("n1", "n2", "n3")
    job = hub.plan(SHARED)
    hub.site.cluster.fail_node("n2")
    hub.site.tick(hub.now)
    hub.advance(1100, tick_s=20)

    assert shared_runs(job) == [(["n1", "n3"], "passed"), (["n2"], "skipped")]


def test_a_failed_collective_is_repeated_as_one_run() -> None:
    hub = hub_of("n1", "n2", "n3")
    hub.site.workload = lambda order: all_reduce(order, wrong=3)
    job = hub.plan(SHARED)
    hub.advance(60)
    job.refresh_from_db()
    hub.site.workload = any_workload

    again = rerun_failed(
        job, by=Actor("alice"), reason="recabled", store=hub.store, bells=Silence(), now=hub.now
    )
    hub.advance(60)

    assert shared_runs(again) == [(["n1", "n2", "n3"], "passed")]
    assert TestRun.objects.get(job=again).rerun_of is not None


def test_free_nodes_are_chosen_idle_ones_first() -> None:
    hub = hub_of("n1", "n2", "n3", "n4")
    Node.objects.filter(name="n3").update(excluded_because="under repair")
    hub.plan(HELLO, nodes=["n1"])
    hub.work()

    assert usable_nodes(hub.site_row, at_most=2) == ["n2", "n4"]
    assert usable_nodes(hub.site_row, at_most=9) == ["n2", "n4", "n1"]
