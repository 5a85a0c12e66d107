"""The limits of one test on one resource class, version by version."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Case, OuterRef, Subquery, Value, When

from fleet.models import ResourceClass


class ThresholdOrigin(models.TextChoices):
    SHIPPED = "shipped", "shipped with a release"
    OPERATOR = "operator", "set by an operator"


class ThresholdsAreKept(TypeError):
    """Someone tried to change what results refer to: a defect of the caller."""


class Versions(models.QuerySet["ThresholdVersion"]):
    def in_force(self) -> Versions:
        """Return for each test and class the version that decides: the newest of an operator, else
        the newest shipped one. Narrow it down by test and class, by nothing else."""
        operators_first = Case(
            When(origin=ThresholdOrigin.OPERATOR, then=Value(0)), default=Value(1)
        )
        of_the_same = ThresholdVersion.objects.filter(
            slug=OuterRef("slug"), resource_class=OuterRef("resource_class")
        )
        deciding = of_the_same.order_by(operators_first, "-number").values("pk")[:1]
        return self.filter(pk=Subquery(deciding))


class ThresholdVersion(models.Model):
    """One version. Rows are never changed: an edit is a new one, and results keep theirs.

    `bounds` maps a metric to what thresholds.yaml says of it (value, source, confidence, …).
    """

    slug = models.CharField(max_length=63)
    resource_class = models.ForeignKey(ResourceClass, on_delete=models.PROTECT)
    number = models.PositiveIntegerField()
    label = models.CharField(max_length=63, help_text="shipped:<release> or operator:<number>")
    origin = models.CharField(max_length=10, choices=ThresholdOrigin.choices)
    bounds = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True
    )
    reason = models.CharField(max_length=1000, blank=True)

    objects = Versions.as_manager()

    class Meta:
        ordering = ("slug", "resource_class", "-number")
        constraints = (
            models.UniqueConstraint(
                fields=("slug", "resource_class", "number"),
                name="burnin_threshold_number_is_unique",
            ),
            models.UniqueConstraint(
                fields=("slug", "resource_class", "label"),
                name="burnin_threshold_label_is_unique",
            ),
        )

    def __str__(self) -> str:
        return f"{self.slug} on {self.resource_class}, {self.label}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise ThresholdsAreKept("a version of limits is never changed: add another")
        super().save(*args, **kwargs)
