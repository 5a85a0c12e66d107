"""What a preset accepted in its one column stands as rows after the upgrade, with its history."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from burnin.tests.factories import NOW

FLEET = ("fleet", "0004_containers")
BEFORE, AFTER = ("burnin", "0009_pair_metrics"), ("burnin", "0010_acceptances")


def _migrate(to: tuple[str, str]) -> Any:
    """Return the models as they were then; the tables of both apps are, too."""
    MigrationExecutor(connection).migrate([to, FLEET])
    return MigrationExecutor(connection).loader.project_state([to, FLEET]).apps


@pytest.fixture
def old(transactional_db: None) -> Iterator[Any]:
    """The tables as they were; whatever becomes of the test, they are as they are afterwards."""
    newest = MigrationExecutor(connection).loader.graph.leaf_nodes()
    yield _migrate(BEFORE)
    MigrationExecutor(connection).migrate(newest)


def _was(apps: Any, preset: Any, resource_class: Any, kind: str) -> None:
    apps.get_model("burnin", "HistoricalPreset").objects.create(
        id=preset.pk,
        name=preset.name,
        accepts_id=resource_class.pk if resource_class else None,
        history_type=kind,
        history_date=NOW,
    )


def test_what_stood_in_the_column_stands_as_rows(old: Any) -> None:
    h100, h200 = (
        old.get_model("fleet", "ResourceClass").objects.create(name=name)
        for name in ("h100", "h200")
    )
    presets = old.get_model("burnin", "Preset").objects
    quick, _ = presets.create(name="quick", accepts=h200), presets.create(name="pair")
    for accepted, kind in ((None, "+"), (h100, "~"), (h200, "~"), (h200, "~")):
        _was(old, quick, accepted, kind)

    new = _migrate(AFTER)

    rows = new.get_model("burnin", "Acceptance").objects
    assert list(rows.values_list("preset__name", "resource_class__name")) == [("quick", "h200")]
    history = new.get_model("burnin", "HistoricalAcceptance").objects.order_by("history_id")
    assert list(history.values_list("preset_id", "resource_class_id", "history_type")) == [
        (quick.pk, h100.pk, "+"),
        (quick.pk, h100.pk, "-"),
        (quick.pk, h200.pk, "+"),
    ]


def test_a_way_back_leaves_a_preset_the_first_of_its_classes(old: Any) -> None:
    new = _migrate(AFTER)
    preset = new.get_model("burnin", "Preset").objects.create(name="quick")
    for name in ("h200", "h100"):
        kind = new.get_model("fleet", "ResourceClass").objects.create(name=name)
        new.get_model("burnin", "Acceptance").objects.create(preset=preset, resource_class=kind)

    again = _migrate(BEFORE)

    assert again.get_model("burnin", "Preset").objects.get().accepts.name == "h100"
