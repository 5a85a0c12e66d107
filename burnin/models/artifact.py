"""A file from a node, where no node can write it any more."""

from django.db import models

from burnin.models.attempt import Attempt


class Artifact(models.Model):
    """One verified copy. `key` is its place in the store."""

    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="artifacts")
    name = models.CharField(max_length=255)
    key = models.CharField(max_length=500, unique=True)
    size_bytes = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=64)
    stored_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("attempt", "name")
        constraints = (
            models.UniqueConstraint(fields=("attempt", "name"), name="burnin_artifact_is_unique"),
        )

    def __str__(self) -> str:
        return f"{self.name} of {self.attempt}"
