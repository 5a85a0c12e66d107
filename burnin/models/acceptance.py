"""Which preset a node must pass to be accepted: one for each class, and one preset for many."""

from django.db import models
from simple_history.models import HistoricalRecords

from burnin.models.preset import Preset
from fleet.models import ResourceClass


class Acceptance(models.Model):
    """Nodes of the class are accepted by the preset."""

    preset = models.ForeignKey(Preset, on_delete=models.CASCADE, related_name="acceptances")
    resource_class = models.ForeignKey(
        ResourceClass, on_delete=models.CASCADE, related_name="acceptances"
    )
    history = HistoricalRecords()

    class Meta:
        ordering = ("resource_class",)
        constraints = (
            models.UniqueConstraint(
                fields=("resource_class",),
                name="burnin_a_class_is_accepted_by_one_preset",
                violation_error_message="another preset accepts this class: take it away there",
            ),
        )

    def __str__(self) -> str:
        return f"{self.preset} accepts {self.resource_class}"
