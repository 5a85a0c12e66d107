"""The limits in force: what a release ships, unless an operator has said otherwise."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.db.models import QuerySet

from burnin.hardware_tests.base import BaseTest
from burnin.hardware_tests.registry import get_test_class, list_all_tests
from burnin.hardware_tests.thresholds.loader import (
    THRESHOLDS_YAML,
    BadThresholds,
    NoThresholds,
    known_resource_classes,
    load_stated,
    stated_limits,
)
from burnin.hardware_tests.thresholds.schema import ThresholdSet
from burnin.models.threshold import ThresholdOrigin, ThresholdVersion
from fleet.models import ResourceClass

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
    version = _deciding(slug, resource_class)
    if version is None:
        raise NoThresholds(
            f"there are no limits for {slug} on {resource_class}: run `manage.py load_catalogue`, "
            "or set them for this class"
        )
    return InForce(version, _read(get_test_class(slug), version))


def add_operators_version(
    slug: str,
    resource_class: str,
    changes: Stated,
    *,
    by: AbstractBaseUser | None,
    reason: str,
) -> ThresholdVersion:
    """Put `changes` over the limits in force and keep the whole as the version in force.

    Raises UnknownSlug, NoThresholds or BadThresholds in one sentence; then nothing is written.
    """
    test = get_test_class(slug)
    if not reason.strip():
        raise BadThresholds(f"a change of limits of {slug} needs a reason")
    with transaction.atomic():
        kept = _locked_class(resource_class)
        base = _deciding(slug, resource_class)
        bounds = {**(base.bounds if base else {}), **changes}
        label = f"operator:{_versions(slug, resource_class, ThresholdOrigin.OPERATOR).count() + 1}"
        load_stated(test, resource_class, bounds, version=label)
        return ThresholdVersion.objects.create(
            slug=slug,
            resource_class=kept,
            number=_next_number(slug, kept),
            label=label,
            origin=ThresholdOrigin.OPERATOR,
            bounds=bounds,
            created_by_id=by.pk if by else None,
            reason=reason.strip(),
        )


def load_shipped(
    path: Path = THRESHOLDS_YAML, *, tests: Iterable[type[BaseTest]] | None = None
) -> list[ThresholdVersion]:
    """Make a version of every limit in the file that has none yet, and return the new ones.

    Raises NoThresholds or BadThresholds, and writes nothing, if the file is wrong or says
    something new under a version that stands.
    """
    made = []
    with transaction.atomic():
        for name in known_resource_classes(path):
            ResourceClass.objects.get_or_create(name=name)
            kept = _locked_class(name)
            for test in list_all_tests() if tests is None else tests:
                if version := _ship(test, kept, path):
                    made.append(version)
    return made


def difference(before: ThresholdVersion, after: ThresholdVersion) -> list[ChangedBound]:
    """Return the metrics of which the two versions say different things."""
    names = dict.fromkeys([*before.bounds, *after.bounds])
    return [
        ChangedBound(name, before.bounds.get(name), after.bounds.get(name))
        for name in names
        if before.bounds.get(name) != after.bounds.get(name)
    ]


def departures_from_shipped(slug: str, resource_class: str) -> list[ChangedBound]:
    """Return where an operator's version in force says other than the newest release."""
    shipped = _newest(slug, resource_class, ThresholdOrigin.SHIPPED)
    operators = _newest(slug, resource_class, ThresholdOrigin.OPERATOR)
    return difference(shipped, operators) if shipped and operators else []


def _ship(test: type[BaseTest], kept: ResourceClass, path: Path) -> ThresholdVersion | None:
    label, bounds = stated_limits(test, kept.name, path=path)
    standing = ThresholdVersion.objects.filter(slug=test.slug, resource_class=kept, label=label)
    if known := standing.first():
        if known.bounds != bounds:
            raise BadThresholds(
                f"{path.name}: {test.slug} on {kept.name} stands as {label} with other limits, "
                "and results refer to it: raise `version`"
            )
        return None
    return ThresholdVersion.objects.create(
        slug=test.slug,
        resource_class=kept,
        number=_next_number(test.slug, kept),
        label=label,
        origin=ThresholdOrigin.SHIPPED,
        bounds=bounds,
    )


def _read(test: type[BaseTest], version: ThresholdVersion) -> ThresholdSet:
    return load_stated(test, version.resource_class.name, version.bounds, version=version.label)


def _versions(slug: str, resource_class: str, origin: str) -> QuerySet[ThresholdVersion]:
    return ThresholdVersion.objects.filter(
        slug=slug, resource_class__name=resource_class, origin=origin
    )


def _newest(slug: str, resource_class: str, origin: str) -> ThresholdVersion | None:
    versions = _versions(slug, resource_class, origin).select_related("resource_class")
    return versions.order_by("-number").first()


def _deciding(slug: str, resource_class: str) -> ThresholdVersion | None:
    return _newest(slug, resource_class, ThresholdOrigin.OPERATOR) or _newest(
        slug, resource_class, ThresholdOrigin.SHIPPED
    )


def _next_number(slug: str, kept: ResourceClass) -> int:
    newest = ThresholdVersion.objects.filter(slug=slug, resource_class=kept)
    return (newest.order_by("-number").values_list("number", flat=True).first() or 0) + 1


def _locked_class(name: str) -> ResourceClass:
    """Return the class, so that versions of its limits are numbered one at a time."""
    kept = ResourceClass.objects.select_for_update().filter(name=name).first()
    if kept is None:
        raise NoThresholds(f"there is no resource class {name!r:.80}: add it to the inventory")
    return kept
