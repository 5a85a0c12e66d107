"""An upgrade states what shipped classes are made of; nodes of others no longer count."""

from __future__ import annotations

from importlib import import_module

import pytest
from django.apps import apps
from django.utils import timezone

from burnin.hardware_tests.resource_classes import HARDWARE
from burnin.models import NodeStanding
from burnin.models.weighing import is_over
from burnin.tests.factories import a_site, nodes_of
from fleet.models import ResourceClass

pytestmark = pytest.mark.django_db


def test_shipped_classes_are_stated_and_nodes_of_others_are_due() -> None:
    ours, theirs = (ResourceClass.objects.create(name=each) for each in ("h200-8x", "own"))
    site = a_site()
    for kind in (ours, theirs):
        (node,) = nodes_of(site, 1, prefix=kind.name, resource_class=kind)
        NodeStanding.objects.create(
            node=node,
            state="accepted",
            since=timezone.now(),
            required=1,
            passed=1,
            lives_for_days=1,
        )

    import_module("burnin.migrations.0015_hardware_of_shipped_classes").state(apps, None)

    ours.refresh_from_db()
    assert ours.hardware == HARDWARE["h200-8x"]
    over = NodeStanding.objects.filter(is_over(timezone.now()))
    assert [each.node.resource_class.name for each in over] == ["own"]
