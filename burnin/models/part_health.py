"""How the parts of the hub were when they last looked at themselves."""

from __future__ import annotations

from datetime import datetime

from django.db import models

from burnin.models.text import storable


class Part(models.TextChoices):
    """What the hub needs besides its database, which whoever reads this has reached."""

    WORKER = "worker", "Workers and beat"
    BROKER = "broker", "Broker"
    STORE = "store", "Artifact store"


class PartHealthManager(models.Manager["PartHealth"]):
    def note(self, part: Part, *, is_well: bool, words: str, now: datetime) -> None:
        values = {"heard_at": now, "is_well": is_well, "words": storable(words, limit=500)}
        self.update_or_create(part=part.value, defaults=values)


class PartHealth(models.Model):
    """One row a part. No row, or an old one: nobody knows."""

    part = models.CharField(max_length=10, primary_key=True, choices=Part.choices)
    heard_at = models.DateTimeField()
    is_well = models.BooleanField()
    words = models.CharField(max_length=500, blank=True)

    objects = PartHealthManager()

    class Meta:
        ordering = ("part",)
        verbose_name_plural = "health of parts"

    def __str__(self) -> str:
        return f"{self.part}: {'well' if self.is_well else self.words}"
