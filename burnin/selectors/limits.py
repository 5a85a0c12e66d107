"""Versions of limits, many at once."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from burnin.models import Job, ThresholdVersion
from burnin.models.limits import difference
from burnin.models.threshold import ThresholdOrigin
from fleet.models import ResourceClass

LimitsKey = tuple[str, str]  # slug, resource class


def versions_in_force(
    slugs: Collection[str] | None = None,
) -> Mapping[LimitsKey, ThresholdVersion]:
    """Return for each test and class the version that decides, in one query; of `slugs` alone.

    `burnin.models.limits.limits_in_force` says the same of one.
    """
    found = ThresholdVersion.objects.in_force()
    if slugs is not None:
        found = found.filter(slug__in=slugs)
    rows = found.select_related("resource_class", "created_by")
    return {
        (each.slug, each.resource_class.name): each
        for each in rows.order_by("slug", "resource_class__name")
    }


def changed_since(job: Job) -> list[LimitsKey]:
    """Return the tests and classes of which other limits decide now than the job has frozen."""
    frozen = {
        (step["slug"], name): kept["version_id"]
        for step in job.steps
        for name, kept in step["thresholds"].items()
    }
    before = ThresholdVersion.objects.in_bulk(set(frozen.values()))
    after = versions_in_force({slug for slug, _ in frozen})
    return [
        key
        for key, version_id in frozen.items()
        if version_id in before and key in after and difference(before[version_id], after[key])
    ]


@dataclass(frozen=True)
class History:
    """Every version of the limits of one test on one class, the newest first."""

    versions: Sequence[ThresholdVersion]

    @property
    def in_force(self) -> ThresholdVersion | None:
        """The newest of an operator, else the newest shipped one."""
        return self._newest(ThresholdOrigin.OPERATOR) or self.shipped

    @property
    def shipped(self) -> ThresholdVersion | None:
        return self._newest(ThresholdOrigin.SHIPPED)

    @property
    def before_in_force(self) -> ThresholdVersion | None:
        """What decided before: the version that came before the one in force."""
        if self.in_force is None:
            return None
        older = [each for each in self.versions if each.number < self.in_force.number]
        return older[0] if older else None

    def _newest(self, origin: ThresholdOrigin) -> ThresholdVersion | None:
        return next((each for each in self.versions if each.origin == origin), None)


def history_of(slug: str, resource_class: ResourceClass) -> History:
    versions = ThresholdVersion.objects.filter(slug=slug, resource_class=resource_class)
    newest_first = versions.select_related("resource_class", "created_by").order_by("-number")
    return History(list(newest_first))
