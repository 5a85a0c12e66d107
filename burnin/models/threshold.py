"""The limits of one test on one resource class, version by version."""

from typing import Any

from django.conf import settings
from django.db import models

from fleet.models import ResourceClass


class ThresholdOrigin(models.TextChoices):
    SHIPPED = "shipped", "shipped with a release"
    OPERATOR = "operator", "set by an operator"


class ThresholdsAreKept(TypeError):
    """Someone tried to change what results refer to: a defect of the caller."""


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
