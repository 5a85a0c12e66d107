"""Results of before the upgrade say what their job had asked for, or that nobody knows."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from burnin.hardware_tests.workload import Workload
from burnin.tests.factories import NOW

BEFORE, AFTER = ("burnin", "0012_audit_keys_and_life_of_evidence"), ("burnin", "0013_workloads")
SLUG = "single-node.storage"
STEP = {"position": 1, "slug": SLUG, "params": {"duration_s": 9}, "iterations": 3}


def _migrate(to: tuple[str, str]) -> Any:
    executor = MigrationExecutor(connection)
    executor.migrate([to])
    loader = MigrationExecutor(connection).loader
    return loader.project_state([to, *loader.graph.leaf_nodes("fleet")]).apps


@pytest.fixture
def old(transactional_db: None) -> Iterator[Any]:
    """The tables as they were; whatever becomes of the test, they are as they are afterwards."""
    newest = MigrationExecutor(connection).loader.graph.leaf_nodes("burnin")
    yield _migrate(BEFORE)
    MigrationExecutor(connection).migrate(newest)


def _shown(apps: Any, name: str, step: dict[str, Any], resource_class: str = "cpu") -> None:
    """Let a run of this step have passed on a new node that is accepted since."""
    site, _ = apps.get_model("fleet", "Site").objects.get_or_create(name="east")
    kind, _ = apps.get_model("fleet", "ResourceClass").objects.get_or_create(name=resource_class)
    node = apps.get_model("fleet", "Node").objects.create(name=name, site=site, resource_class=kind)
    burnin = apps.get_model
    job = burnin("burnin", "Job").objects.create(site=site, steps=[step], node_count=1)
    run = burnin("burnin", "TestRun").objects.create(
        id=uuid.uuid4(), job=job, site=site, stage=1, step=1, slug=SLUG
    )
    result = burnin("burnin", "TestResult").objects.create(run=run, verdict="passed", judged_at=NOW)
    shown = {"node": node, "slug": SLUG, "verdict": "passed", "judged_at": NOW}
    burnin("burnin", "LatestResult").objects.create(result=result, started_at=NOW, **shown)
    burnin("burnin", "Trouble").objects.create(run=run, began_at=NOW, **shown)
    burnin("burnin", "NodeStanding").objects.create(
        node=node, state="accepted", since=NOW, required=1, passed=1
    )


def test_what_a_job_had_frozen_is_told_and_no_acceptance_is_believed_unweighed(old: Any) -> None:
    _shown(old, "n1", STEP)
    _shown(old, "n2", {**STEP, "params_on": {"gpu": {"duration_s": 5}}}, "gpu")
    _shown(old, "n3", {**STEP, "slug": "single-node.nvme"})

    new = _migrate(AFTER)

    for model in ("LatestResult", "Trouble"):
        rows = new.get_model("burnin", model).objects.order_by("node__name")
        assert list(rows.values_list("params", "iterations", "digest")) == [
            ({"duration_s": 9}, 3, Workload(SLUG, {"duration_s": 9}, 3).digest),
            ({"duration_s": 5}, 3, Workload(SLUG, {"duration_s": 5}, 3).digest),
            ({}, 0, ""),
        ]
    assert not new.get_model("burnin", "NodeStanding").objects.filter(weigh_at=None).exists()


def test_the_way_back_leaves_each_test_its_newest_result(old: Any) -> None:
    _shown(old, "n1", STEP)
    rows = _migrate(AFTER).get_model("burnin", "LatestResult").objects
    row = rows.get()
    row.pk, row.digest, row.verdict, row.started_at = None, "other", "failed", NOW.replace(hour=13)
    row.save()

    again = _migrate(BEFORE)

    assert again.get_model("burnin", "LatestResult").objects.get().verdict == "failed"
