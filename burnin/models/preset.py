"""An ordered plan of tests."""

import uuid

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from simple_history.models import HistoricalRecords

from burnin.hardware_tests.params import BadParams, parse_params
from burnin.hardware_tests.registry import UnknownSlug, get_test_class
from burnin.hardware_tests.run_context import BadRunContext, RunContext, refuse_too_short
from burnin.hardware_tests.site_params import with_examples
from fleet.models import site_name
from runner.contract.wire import AttemptToken


class Preset(models.Model):
    """A plan that jobs are made from. A job freezes its steps: editing changes no running job."""

    name = models.CharField(max_length=63, unique=True, validators=[site_name])
    description = models.CharField(max_length=500, blank=True)
    history = HistoricalRecords()

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name

    @property
    def accepts(self) -> list[str]:
        """The classes whose nodes it accepts, by name. Prefetch `acceptances__resource_class`."""
        return [each.resource_class.name for each in self.acceptances.all()]


class PresetStep(models.Model):
    """One test of a preset. Steps of one stage run side by side; stages one after another.

    A param may be left to the site, like {"path": "$shared_storage"}.
    """

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
    history = HistoricalRecords()
    max_attempts = models.PositiveSmallIntegerField(
        default=2,
        validators=[MinValueValidator(1), MaxValueValidator(5)],
        help_text="Slurm jobs a run may take where infrastructure fails it.",
    )
    only_if_site_sets = models.BooleanField(
        default=False,
        help_text="Not required where the site does not set what `params` leave to it.",
    )

    class Meta:
        ordering = ("preset", "position")
        constraints = (
            models.UniqueConstraint(
                fields=("preset", "position"), name="burnin_step_position_is_unique"
            ),
        )

    def __str__(self) -> str:
        return f"{self.preset} {self.position}: {self.slug}"

    def clean(self) -> None:
        """Refuse a test there is not, params it does not take, and times that no run can have."""
        try:
            test = get_test_class(self.slug)
            params = parse_params(test, with_examples(self.params))
        except UnknownSlug as error:
            raise ValidationError({"slug": str(error)}) from None
        except BadParams as error:
            raise ValidationError({"params": str(error)}) from None
        try:
            context = RunContext(
                token=AttemptToken(str(uuid.UUID(int=0)), 1),
                partition="any",
                timeout_minutes=self.timeout_minutes,
                iterations=self.iterations,
            )
            refuse_too_short(
                context,
                slug=test.slug,
                params=params,
                timed_phases=test.timed_phases(params.resolved()),
            )
        except BadRunContext as error:
            raise ValidationError({"timeout_minutes": str(error)}) from None
