"""An ordered plan of tests."""

from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import Q

from fleet.models import ResourceClass, site_name


class Preset(models.Model):
    """A plan that jobs are made from. A job freezes its steps: editing changes no running job."""

    name = models.CharField(max_length=63, unique=True, validators=[site_name])
    description = models.CharField(max_length=500, blank=True)
    accepts = models.ForeignKey(
        ResourceClass,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="acceptance_presets",
        help_text="Nodes of this class are accepted by this preset.",
    )

    class Meta:
        ordering = ("name",)
        constraints = (
            models.UniqueConstraint(
                fields=("accepts",),
                condition=Q(accepts__isnull=False),
                name="burnin_one_acceptance_preset_per_class",
            ),
        )

    def __str__(self) -> str:
        return self.name


class PresetStep(models.Model):
    """One test of a preset. Steps of one stage run side by side; stages one after another."""

    preset = models.ForeignKey(Preset, on_delete=models.CASCADE, related_name="steps")
    position = models.PositiveSmallIntegerField(validators=[MinValueValidator(1)])
    stage = models.PositiveSmallIntegerField(validators=[MinValueValidator(1)])
    slug = models.CharField(max_length=63)
    params = models.JSONField(default=dict, blank=True)
    iterations = models.PositiveSmallIntegerField(default=1, validators=[MinValueValidator(1)])
    timeout_minutes = models.PositiveIntegerField(validators=[MinValueValidator(1)])
    is_gate = models.BooleanField(
        default=True, help_text="A node that does not pass leaves later stages."
    )
    measure_only = models.BooleanField(default=False, help_text="Measured, never evidence.")

    class Meta:
        ordering = ("preset", "position")
        constraints = (
            models.UniqueConstraint(
                fields=("preset", "position"), name="burnin_step_position_is_unique"
            ),
        )

    def __str__(self) -> str:
        return f"{self.preset} {self.position}: {self.slug}"
