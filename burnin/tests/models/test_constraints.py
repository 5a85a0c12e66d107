"""What must always hold is refused by the database itself, whatever the code above it does."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.db import IntegrityError, models, transaction

from burnin.models import (
    Acceptance,
    Artifact,
    Attempt,
    AuditEntry,
    Job,
    JobCount,
    JobNode,
    LatestResult,
    MetricRow,
    PairMetric,
    Preset,
    PresetStep,
    RunNode,
    StepTime,
    TestResult,
    TestRun,
    ThresholdVersion,
    Trouble,
)
from burnin.states import RunState
from burnin.tests.models.world import (
    NOW,
    add_attempt,
    brought_to,
    make_job,
    make_nodes,
    make_site,
    planned,
)
from fleet.models import HardwareOperation, Node, ResourceClass, Site, SiteAccess
from runner.contract.slugs import Slugs

pytestmark = pytest.mark.django_db


def _node_twice() -> None:
    [node] = make_nodes(make_site(), 1)
    Node.objects.create(site=node.site, name=node.name, resource_class=node.resource_class)


def _nameless_operation() -> None:
    [node] = make_nodes(make_site(), 1)
    HardwareOperation.objects.create(node=node, operation="", performed_at=NOW)


def _access_twice(site: Site | None) -> None:
    user = User.objects.create(username="ann")
    for _ in range(2):
        SiteAccess.objects.create(user=user, site=site)


def _trouble_twice() -> None:
    [run_id] = planned(1)
    node = Node.objects.get()
    for _ in range(2):
        Trouble.objects.create(
            node=node, slug=Slugs.HELLO_WORLD, run_id=run_id, verdict="failed", reason="it failed",
            signature="it failed", began_at=NOW, judged_at=NOW,
        )  # fmt: skip


def _idempotency_key_twice() -> None:
    user, site = User.objects.create(username="ann"), make_site()
    for _ in range(2):
        Job.objects.create(
            site=site, steps=[], node_count=0, requested_by=user, idempotency_key="one"
        )


def _audit_key_twice() -> None:
    user = User.objects.create(username="ann")
    for _ in range(2):
        AuditEntry.objects.create(user=user, action="exclude", idempotency_key="one")


def _done_job_without_an_end() -> None:
    make_job(make_site())
    Job.objects.update(state="done")


def _active_job_with_a_verdict() -> None:
    make_job(make_site())
    Job.objects.update(verdict="passed")


def _cancelling_job_without_a_reason() -> None:
    make_job(make_site())
    Job.objects.update(state="cancelling")


def _node_twice_in_a_job() -> None:
    site = make_site()
    [node] = make_nodes(site, 1)
    job = make_job(site)
    for _ in range(2):
        JobNode.objects.create(job=job, node=node)


def _counter_twice() -> None:
    job = make_job(make_site())
    for _ in range(2):
        JobCount.objects.create(job=job, stage=1, key="planned")


def _two_acceptance_presets_of_a_class() -> None:
    kind = ResourceClass.objects.create(name="h100")
    for name in ("a", "b"):
        Acceptance.objects.create(preset=Preset.objects.create(name=name), resource_class=kind)


def _gpus(count: int | None, maker: str) -> None:
    ResourceClass.objects.create(name="x", gpus_per_node=count, gpu_maker=maker)


def _two_steps_at_one_position() -> None:
    preset = Preset.objects.create(name="quick")
    for _ in range(2):
        PresetStep.objects.create(
            preset=preset, position=1, stage=1, slug=Slugs.STORAGE, timeout_minutes=5
        )


def _metric_twice(node: Node | None) -> None:
    result = _result()
    for _ in range(2):
        MetricRow.objects.create(
            result=result, node=node, position=1, name="speed", label="Speed", value=1.0
        )


def _metric_of_a_node_twice() -> None:
    _metric_twice(make_nodes(make_site("west"), 1)[0])


def _pair_metric(times: int, *, of_itself: bool = False) -> None:
    result, nodes = _result(), make_nodes(make_site("west"), 2)
    for _ in range(times):
        PairMetric.objects.create(
            result=result,
            source=nodes[0],
            target=nodes[0 if of_itself else 1],
            name="bandwidth",
            value=1.0,
        )


def _result() -> TestResult:
    [run_id] = planned(1)
    return TestResult.objects.create(run_id=run_id, verdict="passed", reason="…", judged_at=NOW)


def _two_newest_results_of_a_test() -> None:
    result = _result()
    node = Node.objects.get()
    for _ in range(2):
        LatestResult.objects.create(
            node=node,
            slug=Slugs.STORAGE,
            result=result,
            verdict="passed",
            started_at=NOW,
            judged_at=NOW,
        )


def _judged_run_without_a_verdict() -> None:
    brought_to(RunState.FINISHED)
    TestRun.objects.update(state="judged")


def _running_run_with_a_verdict() -> None:
    brought_to(RunState.RUNNING)
    TestRun.objects.update(verdict="passed")


def _dispatched_run_without_an_attempt() -> None:
    planned(1)
    TestRun.objects.update(state="dispatched")


def _run_in_no_state() -> None:
    brought_to(RunState.RUNNING)
    TestRun.objects.update(state="paused")


def _node_twice_in_a_run() -> None:
    [run_id] = planned(1)
    RunNode.objects.create(run_id=run_id, job=Job.objects.get(), node=Node.objects.get())


def _attempt_twice() -> None:
    [run_id] = planned(1)
    for _ in range(2):
        add_attempt(run_id)


def _accepted_attempt_without_a_job_id() -> None:
    add_attempt(planned(1)[0])
    Attempt.objects.update(submission="accepted")


def _asked_attempt_with_a_job_id() -> None:
    add_attempt(planned(1)[0])
    Attempt.objects.update(slurm_job_id="17")


def _artifact_twice() -> None:
    attempt = add_attempt(planned(1)[0])
    for key in ("a", "b"):
        Artifact.objects.create(
            attempt=attempt, name="stdout.txt", key=key, size_bytes=1, sha256="0" * 64
        )


def _times_of_a_step_twice() -> None:
    job = make_job(make_site())
    for _ in range(2):
        StepTime.objects.create(job=job, stage=1, step=1, slug=Slugs.STORAGE)


def _threshold(**changes: Any) -> None:
    kind, _ = ResourceClass.objects.get_or_create(name="h100")
    given = {"number": 1, "label": "shipped:1", "origin": "shipped", "bounds": {}, **changes}
    ThresholdVersion.objects.create(slug=Slugs.STORAGE, resource_class=kind, **given)


def _threshold_number_twice() -> None:
    _threshold()
    _threshold(label="shipped:2")


def _threshold_label_twice() -> None:
    _threshold()
    _threshold(number=2)


BROKEN: dict[str, tuple[Callable[[], None], ...]] = {
    "fleet_node_name_is_unique_in_site": (_node_twice,),
    "fleet_operation_is_named": (_nameless_operation,),
    "fleet_gpus_have_a_maker": (
        lambda: _gpus(8, ""),
        lambda: _gpus(0, "AMD"),
        lambda: _gpus(None, "AMD"),
    ),
    "fleet_gpu_maker_is_known": (lambda: _gpus(8, "Intel"),),
    "fleet_site_access_once": (lambda: _access_twice(make_site()),),
    "fleet_access_to_all_sites_once": (lambda: _access_twice(None),),
    "burnin_one_trouble_per_workload": (_trouble_twice,),
    "burnin_idempotency_key_is_unique": (_idempotency_key_twice,),
    "burnin_audit_key_is_unique": (_audit_key_twice,),
    "burnin_done_job_has_an_end_and_others_no_verdict": (
        _done_job_without_an_end,
        _active_job_with_a_verdict,
    ),
    "burnin_cancelling_job_says_why": (_cancelling_job_without_a_reason,),
    "burnin_node_once_per_job": (_node_twice_in_a_job,),
    "burnin_count_is_unique": (_counter_twice,),
    "burnin_a_class_is_accepted_by_one_preset": (_two_acceptance_presets_of_a_class,),
    "burnin_step_position_is_unique": (_two_steps_at_one_position,),
    "burnin_metric_of_a_node_is_unique": (_metric_of_a_node_twice,),
    "burnin_metric_of_all_nodes_is_unique": (lambda: _metric_twice(None),),
    "burnin_pair_metric_is_unique": (lambda: _pair_metric(2),),
    "burnin_pair_is_two_nodes": (lambda: _pair_metric(1, of_itself=True),),
    "burnin_one_latest_per_workload": (_two_newest_results_of_a_test,),
    "burnin_a_run_has_a_verdict_if_and_only_if_judged": (
        _judged_run_without_a_verdict,
        _running_run_with_a_verdict,
    ),
    "burnin_a_dispatched_run_has_an_attempt": (_dispatched_run_without_an_attempt,),
    "burnin_a_run_is_in_a_known_state": (_run_in_no_state,),
    "burnin_node_once_per_run": (_node_twice_in_a_run,),
    "burnin_step_time_is_unique": (_times_of_a_step_twice,),
    "burnin_attempt_is_unique": (_attempt_twice,),
    "burnin_a_submitted_attempt_has_a_slurm_job_id": (
        _accepted_attempt_without_a_job_id,
        _asked_attempt_with_a_job_id,
    ),
    "burnin_artifact_is_unique": (_artifact_twice,),
    "burnin_threshold_number_is_unique": (_threshold_number_twice,),
    "burnin_threshold_label_is_unique": (_threshold_label_twice,),
}


@pytest.mark.parametrize("broken", [each for broken in BROKEN.values() for each in broken])
def test_the_database_refuses(broken: Callable[[], None]) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        broken()


def test_no_constraint_goes_untried() -> None:
    declared = {
        constraint.name
        for app in ("fleet", "burnin")
        for model in apps.get_app_config(app).get_models()
        for constraint in model._meta.constraints
    }

    assert declared == set(BROKEN)


def test_counters_never_fall_below_zero() -> None:
    job = make_job(make_site())

    with pytest.raises(IntegrityError), transaction.atomic():
        JobCount.objects.add({(job.pk, 1, "planned"): -1})


@pytest.mark.parametrize(
    ("model", "values"),
    [
        (Site, {"name": "east", "partition": "main", "work_dir": "/w"}),
        (ResourceClass, {"name": "h100"}),
        (Preset, {"name": "quick"}),
    ],
)
def test_a_name_is_given_once(model: type[models.Model], values: dict[str, str]) -> None:
    model._default_manager.create(**values)

    with pytest.raises(IntegrityError), transaction.atomic():
        model._default_manager.create(**values)


def test_a_run_has_one_result() -> None:
    result = _result()

    with pytest.raises(IntegrityError), transaction.atomic():
        TestResult.objects.create(
            run=result.run, verdict="failed", reason="…", judged_at=NOW + timedelta(1)
        )
