"""Keeps standings true when somebody edits what they rest on, by whatever page or command."""

from __future__ import annotations

from typing import Any

from django.db.models.signals import post_delete, post_save, pre_save
from django.utils import timezone

from burnin.models.acceptance import Acceptance
from burnin.models.preset import PresetStep
from burnin.models.standing import NodeStanding
from burnin.models.weighing import make_due, weigh_again
from fleet.models import HardwareOperation, Node, ResourceClass, Site


def connect() -> None:
    """Called once, when Django is ready."""
    post_save.connect(_node_changed, sender=Node)
    post_save.connect(_class_changed, sender=ResourceClass)
    for signal in (post_save, post_delete):
        signal.connect(_operation_changed, sender=HardwareOperation)
        signal.connect(_step_changed, sender=PresetStep)
        signal.connect(_acceptance_changed, sender=Acceptance)
    pre_save.connect(_acceptance_moves, sender=Acceptance)
    pre_save.connect(_site_changes, sender=Site)


def _node_changed(instance: Node, *, raw: bool, **_: Any) -> None:
    if not raw:  # a fixture's operations and presets may not be there yet: the sweep comes
        weigh_again([instance.pk], now=timezone.now())


def _class_changed(instance: ResourceClass, *, raw: bool, **_: Any) -> None:
    """Other hardware is asked for other tests."""
    if not raw:
        make_due([instance.pk], now=timezone.now())


def _operation_changed(instance: HardwareOperation, *, raw: bool = False, **_: Any) -> None:
    if not raw:
        weigh_again([instance.node_id], now=timezone.now())


def _step_changed(instance: PresetStep, *, raw: bool = False, **_: Any) -> None:
    if not raw:
        accepted = Acceptance.objects.filter(preset=instance.preset_id)
        make_due(accepted.values_list("resource_class", flat=True), now=timezone.now())


def _acceptance_changed(instance: Acceptance, *, raw: bool = False, **_: Any) -> None:
    if not raw:
        make_due([instance.resource_class_id], now=timezone.now())


def _acceptance_moves(instance: Acceptance, *, raw: bool, **_: Any) -> None:
    """A preset that turns to another class takes away what the old one required."""
    if not raw:
        before = Acceptance.objects.filter(pk=instance.pk)
        make_due(before.values_list("resource_class", flat=True), now=timezone.now())


def _site_changes(instance: Site, *, raw: bool, **_: Any) -> None:
    """What presets leave to the site is told its nodes' tests: other params, other evidence."""
    if raw or instance.pk is None:
        return
    if Site.objects.filter(pk=instance.pk, shared_storage=instance.shared_storage).exists():
        return
    NodeStanding.objects.filter(node__site=instance.pk).update(weigh_at=timezone.now())
