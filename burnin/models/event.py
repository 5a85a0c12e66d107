"""What happened to a run, in order."""

from django.db import models


class TestRunEvent(models.Model):
    """One move of a run. Written in the transaction that moves it, never changed."""

    __test__ = False

    run = models.ForeignKey("burnin.TestRun", on_delete=models.CASCADE, related_name="events")
    at = models.DateTimeField()
    before = models.CharField(max_length=10, blank=True)
    after = models.CharField(max_length=10)
    note = models.CharField(max_length=2000, blank=True)

    class Meta:
        ordering = ("run", "at", "id")

    def __str__(self) -> str:
        return f"{self.before or 'new'} → {self.after}"
