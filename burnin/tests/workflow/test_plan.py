"""What is planned, and what is refused in one sentence with nothing written."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User

from burnin.hardware_tests.registry import list_all_tests
from burnin.models import Attempt, Job, Preset, TestRun
from burnin.models.audit import Actor
from burnin.models.catalogue import load_catalogue
from burnin.models.limits import add_operators_version, load_shipped
from burnin.tests.factories import NOW, a_class
from burnin.tests.workflow.simulated import Hub, make_hub, make_preset
from burnin.workflow.plan import PlanRefused, StepRequest
from burnin.workflow.steps import steps_of
from fleet.models import Node, Site
from runner.contract.slugs import Slugs

pytestmark = pytest.mark.django_db

HELLO = StepRequest(Slugs.HELLO_WORLD, timeout_minutes=5)


def refusal(hub: Hub, *steps: StepRequest, **more: Any) -> str:
    with pytest.raises(PlanRefused) as refused:
        hub.plan(*steps, **more)
    assert not Job.objects.exists()
    assert not TestRun.objects.exists()
    return str(refused.value)


def test_unknown_nodes_are_named() -> None:
    hub = make_hub("n1")

    said = refusal(hub, nodes=["n1", "n7", "n8"])

    assert said.startswith("site east has no node n7, n8: correct the name")


def test_a_node_of_another_site_is_unknown_here() -> None:
    hub = make_hub("n1")
    make_hub("w1", name="west")

    assert refusal(hub, nodes=["w1"]).startswith("site east has no node w1")


def test_many_unknown_nodes_make_no_endless_sentence() -> None:
    hub = make_hub("n1")

    said = refusal(hub, nodes=[f"x{number}" for number in range(1000)])

    assert "x0, x1, x2, x3, x4 and 995 more" in said


def test_no_node_is_refused() -> None:
    assert refusal(make_hub("n1"), nodes=[]) == "no node was named: name at least one"


def test_a_node_named_twice_is_refused() -> None:
    assert refusal(make_hub("n1"), nodes=["n1", "n1"]) == "n1 named more than once"


def test_an_unchecked_site_is_refused() -> None:
    hub = make_hub()
    Site.objects.update(checked_at=None)

    assert refusal(hub) == "site east has not passed a check: run `manage.py site_check east`"


def test_a_site_that_changed_since_its_check_is_refused() -> None:
    hub = make_hub()
    Site.objects.update(partition="other")

    assert "has changed since its check" in refusal(hub)


def test_a_site_that_is_off_is_refused() -> None:
    hub = make_hub()
    Site.objects.update(is_enabled=False)

    assert refusal(hub) == "site east is switched off: enable it first"


def test_a_site_without_a_satellite_is_refused_within_seconds() -> None:
    hub = make_hub()
    Site.objects.update(heartbeat_at=hub.now - timedelta(seconds=16))

    said = refusal(hub)

    assert said.startswith("no satellite of site east is alive (last heard of 16 s ago)")


def test_a_site_that_never_reported_is_refused() -> None:
    hub = make_hub()
    Site.objects.update(heartbeat_at=None)

    assert refusal(hub).startswith("no satellite of site east has ever reported")


def test_a_store_that_is_away_is_refused() -> None:
    hub = make_hub()
    hub.store.is_reachable = False

    assert refusal(hub).startswith("the artifact store cannot be used: ")


def test_a_preset_without_steps_is_refused() -> None:
    hub = make_hub()

    assert "preset empty has no steps" in refusal(hub, preset=make_preset("empty"))


def test_an_unknown_test_is_refused() -> None:
    said = refusal(make_hub(), replace(HELLO, slug="single-node.hello-wrold"))

    assert said.startswith("there is no test 'single-node.hello-wrold'; did you mean")
    assert Slugs.HELLO_WORLD in said


def test_params_that_do_not_fit_are_refused() -> None:
    said = refusal(make_hub(), replace(HELLO, params={"colour": "red"}))

    assert "there is no param 'colour'" in said


def test_a_time_that_outlives_its_upload_urls_is_refused() -> None:
    said = refusal(make_hub(), replace(HELLO, timeout_minutes=7 * 24 * 60))

    assert "more than 7 days" in said


def test_a_time_in_which_the_work_cannot_end_is_refused() -> None:
    hub = make_hub()
    stress = StepRequest(Slugs.MEMORY_STRESS, timeout_minutes=10, params={"duration_s": 190})

    assert refusal(hub, replace(stress, iterations=3)) == (
        "single-node.memory-stress cannot end in time: 3 x duration_s 190 does not fit into "
        "timeout_minutes 10, whose last 30 s are for the results; raise it, or shorten the duration"
    )
    hub.plan(replace(stress, iterations=2))
    assert Job.objects.exists()


def test_a_time_in_which_not_every_phase_can_end_is_refused() -> None:
    hub = make_hub()
    storage = StepRequest(Slugs.STORAGE, timeout_minutes=10, params={"duration_s": 190})

    assert refusal(hub, storage).startswith(
        "single-node.storage cannot end in time: 3 x duration_s 190 (3 in each iteration) does not"
    )
    hub.plan(replace(storage, params={"duration_s": 180}))
    assert Job.objects.exists()


def test_a_class_without_limits_is_refused() -> None:
    hub = make_hub("n1")
    Node.objects.update(resource_class=a_class("b200"))

    assert "single-node.hello-world" in refusal(hub)


GPU_STEP = {"slug": Slugs.GPU_BURN, "stage": 2, "timeout_minutes": 30}


def _of_class(name: str, *nodes: str) -> None:
    Node.objects.filter(name__in=nodes).update(resource_class=a_class(name))


def test_a_step_of_a_preset_runs_on_the_nodes_that_have_its_hardware() -> None:
    hub = make_hub("n1", "n2")
    _of_class("h100-sxm5-8x", "n2")
    load_shipped()

    job = hub.plan(preset=make_preset("quick", {}, GPU_STEP))

    runs = TestRun.objects.filter(job=job).order_by("step", "members__node__name")
    assert list(runs.values_list("slug", "members__node__name")) == [
        (Slugs.HELLO_WORLD, "n1"),
        (Slugs.HELLO_WORLD, "n2"),
        (Slugs.GPU_BURN, "n2"),
    ]


def test_a_step_that_no_node_has_the_hardware_for_is_no_step_of_the_job() -> None:
    hub = make_hub("n1")

    job = hub.plan(preset=make_preset("quick", GPU_STEP, {"stage": 2}))
    hub.advance(120)

    job.refresh_from_db()
    assert [(each["position"], each["slug"]) for each in job.steps] == [(2, Slugs.HELLO_WORLD)]
    assert job.verdict == "passed"


def test_a_preset_without_a_step_for_these_nodes_is_refused() -> None:
    said = refusal(make_hub("n1"), preset=make_preset("gpus", GPU_STEP))

    assert said == "preset gpus has no test for nodes of cpu-generic"


@pytest.mark.parametrize(
    ("on", "left_out"),
    [("cpu-generic", Slugs.HPCG), ("mi300x-8x", Slugs.DCGMI), ("h100-sxm5-8x", Slugs.RVS)],
)
def test_each_shipped_preset_can_be_planned_on_two_nodes_of_a_class(on: str, left_out: str) -> None:
    hub = make_hub("n1", "n2")
    _of_class(on, "n1", "n2")
    Site.objects.update(shared_storage="/shared")
    load_catalogue()
    load_shipped()

    for preset in Preset.objects.all():
        job = hub.plan(preset=preset)
        planned = {each["slug"] for each in job.steps}
        asked = set(preset.steps.values_list("slug", flat=True)) - {left_out}
        assert planned == asked - _unfit(on)


def _unfit(resource_class: str) -> set[str]:
    return {test.slug for test in list_all_tests() if resource_class not in test.resource_classes()}


def test_a_node_is_asked_for_the_checks_that_its_class_has_the_hardware_for() -> None:
    hub = make_hub("n1", "n2")
    _of_class("h100-sxm5-8x", "n2")
    load_shipped()
    checks = ["cpu_count", "gpu_count", "rocm_gpu_count"]
    health = {"slug": Slugs.NODE_HEALTH, "params": {"checks": checks}}

    job = hub.plan(preset=make_preset("quick", health))
    hub.advance(20)

    (step,) = steps_of(job.steps).values()
    assert step.params["checks"] == checks
    assert step.not_asked() == {
        "cpu-generic": ["gpu_count", "rocm_gpu_count"],
        "h100-sxm5-8x": ["rocm_gpu_count"],
    }
    told = {
        attempt.context["node_names"][0]: attempt.context["params"]["checks"]
        for attempt in Attempt.objects.filter(run__job=job)
    }
    assert told == {"n1": ["cpu_count"], "n2": ["cpu_count", "gpu_count"]}


def test_a_step_of_which_no_check_is_for_a_class_is_no_step_for_it() -> None:
    said = refusal(
        make_hub("n1"),
        preset=make_preset(
            "gpus", {"slug": Slugs.NODE_HEALTH, "params": {"checks": ["gpu_count"]}}
        ),
    )

    assert said == "preset gpus has no test for nodes of cpu-generic"


def test_a_check_that_was_asked_for_by_name_is_asked_of_every_node() -> None:
    asked = StepRequest(Slugs.NODE_HEALTH, timeout_minutes=5, params={"checks": ["gpu_count"]})

    (step,) = steps_of(make_hub("n1").plan(asked).steps).values()

    assert step.params_for("cpu-generic")["checks"] == ["gpu_count"]
    assert step.not_asked() == {}


def test_a_test_that_was_asked_for_by_name_is_refused_where_its_hardware_is_not() -> None:
    said = refusal(make_hub("n1"), StepRequest(Slugs.GPU_BURN, timeout_minutes=30))

    assert "needs GPUs of AMD or NVIDIA, and nodes of cpu-generic have no GPUs" in said


def test_a_job_freezes_its_steps_against_later_edits() -> None:
    hub = make_hub("n1")
    preset = make_preset("quick", {"slug": Slugs.MEMORY_STRESS, "params": {"duration_s": 30}})

    job = hub.plan(preset=preset)
    preset.steps.update(params={"duration_s": 60}, slug=Slugs.HELLO_WORLD)

    (frozen,) = Job.objects.get(pk=job.pk).steps
    assert frozen["slug"] == Slugs.MEMORY_STRESS
    assert frozen["params"]["duration_s"] == 30
    assert set(frozen["thresholds"]) == {"cpu-generic"}
    assert frozen["thresholds"]["cpu-generic"]["label"].startswith("shipped:")


def test_a_job_is_judged_by_the_limits_it_froze() -> None:
    hub = make_hub("n1")
    before = hub.plan()
    two = {"responded": {"value": 2, "source": "a trial", "confidence": "C"}}
    version = add_operators_version(
        Slugs.HELLO_WORLD,
        "cpu-generic",
        two,
        by=Actor("ann"),
        reason="to see what it does",
        now=NOW,
    )
    after = hub.plan()

    hub.advance(120)

    kept, changed = (TestRun.objects.get(job=job).result for job in (before, after))
    assert (kept.verdict, kept.evaluation[0]["bound"]["value"]) == ("passed", 1)
    assert (changed.verdict, changed.thresholds_id) == ("failed", version.pk)
    assert changed.evaluation[0]["bound"]["value"] == 2


def test_the_same_key_makes_one_job() -> None:
    hub = make_hub("n1", "n2")
    alice = User.objects.create(username="alice")

    first = hub.plan(by=Actor.of(alice), idempotency_key="k")
    second = hub.plan(by=Actor.of(alice), idempotency_key="k")

    assert first == second
    assert TestRun.objects.count() == 2


def test_the_same_key_for_something_else_is_refused() -> None:
    hub = make_hub("n1", "n2")
    alice = User.objects.create(username="alice")
    hub.plan(by=Actor.of(alice), idempotency_key="k")

    with pytest.raises(PlanRefused, match="take a new key"):
        hub.plan(by=Actor.of(alice), idempotency_key="k", nodes=["n1"])


@pytest.mark.parametrize(
    "other",
    [
        StepRequest(Slugs.MEMORY_STRESS, timeout_minutes=5),
        StepRequest(Slugs.HELLO_WORLD, timeout_minutes=6),
        StepRequest(Slugs.HELLO_WORLD, timeout_minutes=5, measure_only=True),
    ],
    ids=["test", "timeout", "measure-only"],
)
def test_the_same_key_for_other_steps_is_refused(other: StepRequest) -> None:
    hub = make_hub("n1")
    alice = User.objects.create(username="alice")
    hub.plan(by=Actor.of(alice), idempotency_key="k")

    with pytest.raises(PlanRefused, match="take a new key"):
        hub.plan(other, by=Actor.of(alice), idempotency_key="k")


def test_two_people_may_use_one_key() -> None:
    hub = make_hub("n1")
    alice, bob = (User.objects.create(username=name) for name in ("alice", "bob"))

    jobs = {hub.plan(by=Actor.of(who), idempotency_key="k").pk for who in (alice, bob)}

    assert len(jobs) == 2
