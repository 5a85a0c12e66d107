"""Hub worker, beat, web and satellite as processes, on real Slurm, Redis, PostgreSQL and S3."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from burnin.tests.e2e.conftest import MakeStack
from burnin.tests.e2e.stack import Stack
from deploy.cluster.testing import RealCluster, RealServices
from runner.contract.slugs import Slugs

pytestmark = pytest.mark.cluster
FAULTY, HANGING, CANCELLED, DEAD = "n2", "n3", "n4", "n5"
STEPS = [
    {"slug": Slugs.HELLO_WORLD, "timeout_minutes": 5, "stage": 1},
    {"slug": Slugs.STORAGE, "timeout_minutes": 5, "stage": 1, "is_gate": False,
     "params": {"duration_s": 2}},
    {"slug": Slugs.MEMORY_STRESS, "timeout_minutes": 2, "stage": 2, "params": {"duration_s": 10}},
]  # fmt: skip
NODE_TOOLS = ("bash", "python3", "sha256sum", "env", "uname", "scontrol", "srun", "sleep", "sh")


def node_tools(home: Path) -> Path:
    """A PATH without fio, in which stressapptest does on each node what the test needs."""
    tools = home / "node-tools"
    tools.mkdir(parents=True)
    for name in NODE_TOOLS:
        (tools / name).symlink_to(Path("/usr/bin") / name)
    wrapper = tools / "stressapptest"
    wrapper.write_text(
        f"""#!/usr/bin/bash
case $SLURMD_NODENAME in
    {FAULTY}) exec /usr/bin/stressapptest --force_errors "$@" ;;
    {HANGING} | {CANCELLED} | {DEAD}) exec /usr/bin/sleep 600 ;;
    *) exec /usr/bin/stressapptest "$@" ;;
esac
"""
    )
    wrapper.chmod(0o755)
    return tools


def test_every_verdict_of_a_two_stage_job_is_produced_and_nobody_is_lost(
    make_stack: MakeStack,
    start_cluster: Callable[..., RealCluster],
    start_services: Callable[[], RealServices],
) -> None:
    cluster = start_cluster("--node-roots", "--memory-mb", "400")
    stack = make_stack(cluster, start_services())
    stack.node_path = str(node_tools(stack.home))
    stack.open_site()

    job_id = stack.start_job(cluster.node_names, STEPS)
    _kill_a_node_and_cancel_a_run(stack, cluster, job_id)
    job = stack.wait_for_end(job_id, for_s=240)

    assert job["nodes"] == job["node_count"] == len(cluster.node_names) == 8
    assert job["counts"] == job["recount"]
    assert job["verdict"] == "failed"
    runs = stack.runs(job_id)
    assert Counter((run["slug"], run["verdict"]) for run in runs) == {
        (Slugs.HELLO_WORLD, "passed"): 8,
        (Slugs.STORAGE, "errored"): 8,
        (Slugs.MEMORY_STRESS, "passed"): 4,
        (Slugs.MEMORY_STRESS, "failed"): 1,
        (Slugs.MEMORY_STRESS, "errored"): 1,
        (Slugs.MEMORY_STRESS, "skipped"): 1,
        (Slugs.MEMORY_STRESS, "inconclusive"): 1,
    }
    stress = {run["node"]: run for run in runs if run["slug"] == Slugs.MEMORY_STRESS}
    assert (stress[FAULTY]["verdict"], stress[FAULTY]["cause"]) == ("failed", "hardware")
    assert "Memory errors" in stress[FAULTY]["reason"]
    assert (stress[HANGING]["verdict"], stress[HANGING]["cause"]) == ("errored", "test")
    assert "time limit is too short" in stress[HANGING]["reason"]
    assert stress[CANCELLED]["verdict"] == "skipped"
    assert "ann" in stress[CANCELLED]["reason"]
    assert (stress[DEAD]["verdict"], stress[DEAD]["cause"]) == ("inconclusive", "hardware")
    storage = next(run for run in runs if run["slug"] == Slugs.STORAGE)
    assert "fio is not installed" in storage["reason"]


def _kill_a_node_and_cancel_a_run(stack: Stack, cluster: RealCluster, job_id: str) -> None:
    def running() -> dict[str, str]:
        return {
            run["node"]: run["id"]
            for run in stack.runs(job_id)
            if run["slug"] == Slugs.MEMORY_STRESS and run["state"] == "running"
        }

    def both() -> dict[str, str] | None:
        found = running()
        return found if {CANCELLED, DEAD} <= found.keys() else None

    under_way: dict[str, str] = stack.wait(both, "both tests run", for_s=120)
    os.kill(cluster.slurmd(DEAD).pid, signal.SIGKILL)
    stack.django(
        """
from django.utils import timezone
from burnin.models.audit import Actor
from burnin.workflow import cancel, wiring
from fleet.models import Site
cancel.cancel_runs(Site.objects.get(name=values["site"]), [values["run"]], by=Actor("ann"),
                   reason="wrong node", queue=wiring.site_queue(), now=timezone.now())
answer = None
""",
        site=stack.site,
        run=under_way[CANCELLED],
    )
