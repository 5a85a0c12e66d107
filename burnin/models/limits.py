"""The limits in force: what a release ships, unless an operator has said otherwise."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from django.db import transaction

from burnin.hardware_tests.base import BaseTest
from burnin.hardware_tests.registry import get_test_class, list_all_tests
from burnin.hardware_tests.resource_classes import why_unfit
from burnin.hardware_tests.thresholds.errors import BadThresholds, NoThresholds
from burnin.hardware_tests.thresholds.loader import (
    THRESHOLDS_YAML,
    default_limits,
    known_resource_classes,
    load_stated,
    stated_limits,
)
from burnin.hardware_tests.thresholds.schema import ThresholdSet
from burnin.models.audit import Action, Actor, AuditEntry
from burnin.models.shipped_classes import shipped_class
from burnin.models.text import storable, storable_json
from burnin.models.threshold import ThresholdOrigin, ThresholdVersion
from fleet.models import HardwareUnstated, ResourceClass

LONGEST_TEXT = 1000  # of characters, of a source or a reason
Stated = Mapping[str, Mapping[str, Any]]  # by metric: value, source, confidence, … as in the YAML


@dataclass(frozen=True)
class InForce:
    """The version that decides now, and its bounds."""

    version: ThresholdVersion
    thresholds: ThresholdSet


@dataclass(frozen=True)
class ChangedBound:
    """What two versions say of one metric; None where one of them says nothing."""

    metric: str
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None


def limits_in_force(slug: str, resource_class: str) -> InForce:
    """Return the newest operator's version, else the newest shipped one.

    Raises UnknownSlug, NoThresholds, or BadThresholds if a newer release of the test no longer
    accepts what an operator once said.
    """
    test = get_test_class(slug)
    version = _deciding(slug, resource_class)
    kept = version.resource_class if version else _class(resource_class)
    if kept is not None:
        _refuse_unfit(test, kept)
    if version is None:
        raise NoThresholds(
            f"there are no limits for {slug} on {resource_class}: run `manage.py load_catalogue`, "
            "or set them for this class"
        )
    return InForce(version, _read(test, version))


def add_operators_version(
    slug: str,
    resource_class: str,
    changes: Stated,
    *,
    by: Actor,
    reason: str,
    now: datetime,
    based_on: int | None = None,
) -> ThresholdVersion:
    """Put `changes` over the limits in force and keep the whole as the version in force.

    `based_on` is the number of the version that the editor saw, 0 for none: another in force is
    refused.
    Raises UnknownSlug, NoThresholds or BadThresholds in one sentence; then nothing is written.
    """
    test = get_test_class(slug)
    if not reason.strip():
        raise BadThresholds(f"a change of limits of {slug} needs a reason")
    _refuse_long(slug, changes)
    with transaction.atomic():
        kept = _locked_class(resource_class)
        _refuse_unfit(test, kept)
        base = _deciding(slug, resource_class)
        _refuse_if_overtaken(base, based_on)
        bounds = {**(base.bounds if base else {}), **changes}
        if base and bounds == base.bounds:
            raise BadThresholds(f"nothing changes in the limits of {slug}: {base.label} says this")
        edits = ThresholdVersion.objects.filter(
            slug=slug, resource_class=kept, origin=ThresholdOrigin.OPERATOR
        )
        label = f"operator:{edits.count() + 1}"
        load_stated(test, resource_class, bounds, version=label)
        version = ThresholdVersion.objects.create(
            slug=slug,
            resource_class=kept,
            number=_next_number(slug, kept),
            label=label,
            origin=ThresholdOrigin.OPERATOR,
            bounds=storable_json(bounds),
            created_by_id=by.user_id,
            reason=storable(reason.strip(), limit=1000),
        )
        AuditEntry.objects.write(by, Action.EDIT_LIMITS, version, site=None, reason=reason, now=now)
    return version


def load_shipped(
    path: Path = THRESHOLDS_YAML, *, tests: Iterable[type[BaseTest]] | None = None
) -> list[ThresholdVersion]:
    """Make a version of every limit in the file that has none yet, and return the new ones.

    Of classes that it does not know it holds what the file says of any class. Raises
    NoThresholds or BadThresholds, and writes nothing, if the file is wrong or says something new
    under a version that stands.
    """
    chosen = list(list_all_tests() if tests is None else tests)
    with transaction.atomic():
        classes = _locked_classes(known_resource_classes(path))
        standing = _standing([test.slug for test in chosen])
        made = [
            version
            for kept in classes
            for test in chosen
            if _is_for(test, kept)
            and (version := _ship(test, kept, path, standing.get((test.slug, kept.pk), [])))
        ]
        return ThresholdVersion.objects.bulk_create(made)


def difference(before: ThresholdVersion, after: ThresholdVersion) -> list[ChangedBound]:
    """Return the metrics of which the two versions say different things."""
    names = dict.fromkeys([*before.bounds, *after.bounds])
    return [
        ChangedBound(name, before.bounds.get(name), after.bounds.get(name))
        for name in names
        if before.bounds.get(name) != after.bounds.get(name)
    ]


def _refuse_long(slug: str, changes: Stated) -> None:
    longest = max(map(len, _texts(changes)), default=0)
    if longest > LONGEST_TEXT:
        raise BadThresholds(
            f"the limits of {slug} would say {longest:,} characters of one thing: "
            f"keep it to {LONGEST_TEXT:,}"
        )


def _texts(stated: object) -> Iterator[str]:
    if isinstance(stated, str):
        yield stated
    elif isinstance(stated, Mapping):
        for each in stated.values():
            yield from _texts(each)
    elif isinstance(stated, list | tuple):
        for each in stated:
            yield from _texts(each)


def _refuse_if_overtaken(base: ThresholdVersion | None, based_on: int | None) -> None:
    if based_on is not None and (base.number if base else 0) != based_on:
        label = base.label if base else "nothing"
        raise BadThresholds(
            f"{label} has come into force meanwhile: look at what it changed, and edit that"
        )


def _ship(
    test: type[BaseTest], kept: ResourceClass, path: Path, standing: Sequence[ThresholdVersion]
) -> ThresholdVersion | None:
    state = stated_limits if kept.name in test.resource_classes(path) else default_limits
    label, bounds = state(test, kept.name, path=path)
    known = next((each for each in standing if each.label == label), None)
    if known is not None:
        if known.bounds != bounds:
            raise BadThresholds(
                f"{path.name}: {test.slug} on {kept.name} stands as {label} with other limits, "
                "and results refer to it: raise `version`"
            )
        return None
    return ThresholdVersion(
        slug=test.slug,
        resource_class=kept,
        number=max((each.number for each in standing), default=0) + 1,
        label=label,
        origin=ThresholdOrigin.SHIPPED,
        bounds=bounds,
    )


def _standing(slugs: Sequence[str]) -> dict[tuple[str, int], list[ThresholdVersion]]:
    """Return every version of these tests' limits, by slug and class."""
    found: dict[tuple[str, int], list[ThresholdVersion]] = {}
    for version in ThresholdVersion.objects.filter(slug__in=slugs).order_by():
        found.setdefault((version.slug, version.resource_class_id), []).append(version)
    return found


def _read(test: type[BaseTest], version: ThresholdVersion) -> ThresholdSet:
    return load_stated(test, version.resource_class.name, version.bounds, version=version.label)


def _deciding(slug: str, resource_class: str) -> ThresholdVersion | None:
    versions = ThresholdVersion.objects.filter(slug=slug, resource_class__name=resource_class)
    return versions.in_force().select_related("resource_class").first()


def _next_number(slug: str, kept: ResourceClass) -> int:
    newest = ThresholdVersion.objects.filter(slug=slug, resource_class=kept)
    return (newest.order_by("-number").values_list("number", flat=True).first() or 0) + 1


def _locked_classes(shipped: Sequence[str]) -> list[ResourceClass]:
    """Return every class, shipped ones made if need be, so that limits are numbered one at a time.

    Shipped ones come first, in their order.
    """
    ResourceClass.objects.bulk_create(map(shipped_class, shipped), ignore_conflicts=True)
    kept = {each.name: each for each in ResourceClass.objects.select_for_update().order_by("name")}
    return [*(kept.pop(name) for name in shipped), *kept.values()]


def _is_for(test: type[BaseTest], kept: ResourceClass) -> bool:
    try:
        return not why_unfit(test.gpu_makers, kept.hardware)
    except HardwareUnstated:
        return False


def _refuse_unfit(test: type[BaseTest], kept: ResourceClass) -> None:
    """Raise NoThresholds where nodes of the class are not known to have what the test needs."""
    try:
        test.refuse_unfit(kept.hardware)
    except HardwareUnstated as error:
        raise NoThresholds(str(error)) from None


def _class(name: str) -> ResourceClass | None:
    return ResourceClass.objects.filter(name=name).first()


def _locked_class(name: str) -> ResourceClass:
    """Return the class, so that versions of its limits are numbered one at a time."""
    kept = ResourceClass.objects.select_for_update().filter(name=name).first()
    if kept is None:
        raise NoThresholds(f"there is no resource class {name!r:.80}: add it to the inventory")
    return kept
