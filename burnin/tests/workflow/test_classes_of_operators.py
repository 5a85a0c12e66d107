"""A class that no release ships is asked for what its row states; for nothing if it states none."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from burnin.hardware_tests.registry import list_all_tests
from burnin.hardware_tests.thresholds.schema import Standing
from burnin.models import Attempt, Job, NodeStanding, TestRun, ThresholdVersion
from burnin.models.limits import limits_in_force, load_shipped
from burnin.models.weighing import sweep
from burnin.states import Verdict
from burnin.tests.factories import NOW, a_preset, a_site, nodes_of
from burnin.tests.workflow.simulated import Hub, make_hub, make_preset
from burnin.workflow.plan import PlanRefused, StepRequest
from burnin.workflow.steps import Step, UnreadableStep, steps_of
from fleet.models import Node, ResourceClass
from runner.contract.slugs import Slugs

pytestmark = pytest.mark.django_db

NAME = "h100-nvl-4x"
NVL: dict[str, Any] = {"gpus_per_node": 4, "gpu_maker": "NVIDIA", "parts": ["nvlink", "nvme"]}
GPU_STEP = {"slug": Slugs.NCCL_LOOPBACK, "stage": 2}


def _hub(**stated: Any) -> Hub:
    """Return a hub whose one node is of the operator's class, which has its limits."""
    hub = make_hub("n1")
    kind = ResourceClass(name=NAME, **stated)
    kind.full_clean()
    kind.save()
    Node.objects.update(resource_class=kind)
    load_shipped()
    return hub


def test_a_class_that_states_no_hardware_is_refused_by_name_and_by_preset() -> None:
    hub = _hub()

    doors: list[dict[str, Any]] = [{}, {"preset": make_preset("quick", {}, GPU_STEP)}]
    for asked in doors:
        with pytest.raises(PlanRefused) as refused:
            hub.plan(**asked)
        assert str(refused.value) == (
            "resource class h100-nvl-4x does not state its hardware: an admin states GPUs per "
            "node, their maker and the parts under Resource classes"
        )
    assert not Job.objects.exists()


def test_a_step_for_gpus_is_a_step_for_the_class_that_states_them() -> None:
    hub = _hub(**NVL)
    checks = ["cpu_count", "gpu_count", "active_nvlinks", "fabric_manager", "rocm_gpu_count"]
    health = {"slug": Slugs.NODE_HEALTH, "params": {"checks": checks}}

    job = hub.plan(preset=make_preset("quick", health, GPU_STEP))
    hub.advance(20)

    first, second = steps_of(job.steps).values()
    assert second.slug == Slugs.NCCL_LOOPBACK
    assert first.params_for(NAME)["checks"] == ["cpu_count", "gpu_count", "active_nvlinks"]
    assert "#SBATCH --gres=gpu:4\n" in Attempt.objects.get().script


def test_a_later_edit_of_the_class_changes_no_planned_job() -> None:
    hub = _hub(**NVL)
    job = hub.plan(StepRequest(Slugs.NCCL_LOOPBACK, timeout_minutes=5))

    ResourceClass.objects.filter(name=NAME).update(gpus_per_node=8, gpu_maker="AMD")
    hub.advance(20)

    script = Attempt.objects.get(run__job=job).script
    assert "#SBATCH --gres=gpu:4\n" in script
    assert "environment+=(BURN_IN_GPU_MAKER=NVIDIA)\n" in script


def test_a_job_of_before_that_knows_no_hardware_of_a_class_is_not_sent() -> None:
    hub = _hub(**NVL)
    job = hub.plan(StepRequest(Slugs.NCCL_LOOPBACK, timeout_minutes=5))
    kept = [{name: each[name] for name in each if name != "hardware"} for each in job.steps]
    Job.objects.update(steps=kept)

    hub.advance(20)

    run = TestRun.objects.get()
    assert run.verdict == Verdict.ERRORED
    assert run.reason.endswith(f"the job froze no hardware of {NAME}: plan it anew")
    with pytest.raises(UnreadableStep):
        Step.from_json(kept[0]).hardware_for(NAME)


def test_a_class_gets_the_limits_that_hold_for_any_and_no_others() -> None:
    _hub(**NVL)

    for test in list_all_tests():
        if "NVIDIA" not in (test.gpu_makers or {"NVIDIA"}):
            assert not ThresholdVersion.objects.filter(
                slug=test.slug, resource_class__name=NAME
            ).exists()
            continue
        bounds = limits_in_force(test.slug, NAME).thresholds.bounds
        assert bounds, test.slug
    nccl = limits_in_force(Slugs.NCCL_LOOPBACK, NAME).thresholds.bounds
    assert nccl["wrong_values"].value == 0
    assert nccl["bus_bandwidth"].standing is Standing.UNCALIBRATED


def test_nodes_of_the_class_can_be_measured_before_there_are_limits() -> None:
    hub = _hub(**NVL)
    hub.plan(StepRequest(Slugs.HELLO_WORLD, timeout_minutes=5, measure_only=True))
    hub.plan(StepRequest(Slugs.NCCL_LOOPBACK, timeout_minutes=5, measure_only=True))

    hub.advance(60)

    assert TestRun.objects.get(slug=Slugs.HELLO_WORLD).verdict == Verdict.MEASURED


def test_no_node_of_a_class_that_states_no_hardware_is_accepted() -> None:
    kind = ResourceClass.objects.create(name=NAME)
    a_preset("accept", Slugs.HELLO_WORLD, Slugs.NCCL_LOOPBACK, accepts=kind)
    (node,) = nodes_of(a_site(), 1, resource_class=kind)
    sweep(now=NOW)

    standing = NodeStanding.objects.get(node=node)
    assert (standing.state, standing.required, standing.passed) == ("untested", 2, 0)
    assert f"resource class {NAME} does not state its hardware" in standing.reason
    assert standing.reason.endswith("(2 tests in all)")


def test_a_class_that_states_its_hardware_is_weighed_again() -> None:
    kind = ResourceClass.objects.create(name=NAME)
    a_preset("accept", Slugs.HELLO_WORLD, Slugs.NCCL_LOOPBACK, accepts=kind)
    (node,) = nodes_of(a_site(), 1, resource_class=kind)
    sweep(now=NOW)

    kind.gpus_per_node = 0
    kind.save()
    sweep(now=NOW + timedelta(days=10_000))

    standing = NodeStanding.objects.get(node=node)
    assert (standing.required, standing.reason) == (
        1,
        "never run to a conclusion: single-node.hello-world",
    )
