"""What was measured, and the verdict."""

from django.db import models
from django.db.models import Q

from burnin.models.attempt import Attempt
from burnin.models.run import TestRun, choices_of
from burnin.models.threshold import ThresholdVersion
from burnin.states import Cause, Verdict
from fleet.models import Node


class TestResult(models.Model):
    """The one result of a run. `evaluation` keeps every gate with the exact bound it was asked."""

    __test__ = False

    run = models.OneToOneField(TestRun, on_delete=models.CASCADE, related_name="result")
    attempt = models.OneToOneField(Attempt, on_delete=models.PROTECT, null=True, blank=True)
    verdict = models.CharField(max_length=12, choices=choices_of(Verdict))
    cause = models.CharField(max_length=14, choices=choices_of(Cause), blank=True)
    reason = models.CharField(max_length=2000)
    evaluation = models.JSONField(default=list, blank=True)
    iterations = models.JSONField(null=True, blank=True, help_text="Worst, median, spread.")
    deviation = models.FloatField(
        null=True, blank=True, help_text="Worst margin to a bound, relative to it; below 0: failed."
    )
    fingerprint = models.CharField(max_length=64, blank=True)
    thresholds = models.ForeignKey(
        ThresholdVersion, on_delete=models.PROTECT, null=True, blank=True
    )
    tools = models.JSONField(default=dict, blank=True)
    facts = models.JSONField(default=list, blank=True, help_text="Of every node, by the runner.")
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    judged_at = models.DateTimeField()

    class Meta:
        ordering = ("-judged_at",)

    def __str__(self) -> str:
        return f"{self.verdict}: {self.reason[:60]}"


class MetricRow(models.Model):
    """One metric of a result. `value` is in `unit`; `position` is the operator's reading order."""

    result = models.ForeignKey(TestResult, on_delete=models.CASCADE, related_name="metrics")
    node = models.ForeignKey(Node, on_delete=models.PROTECT, null=True, blank=True)
    position = models.PositiveSmallIntegerField()
    name = models.CharField(max_length=63)
    label = models.CharField(max_length=100)
    value = models.FloatField()
    unit = models.CharField(max_length=15, blank=True)
    better = models.CharField(max_length=6, blank=True)
    detail = models.CharField(max_length=2048, blank=True)

    class Meta:
        ordering = ("result", "position")
        indexes = (models.Index(fields=("node", "name")),)
        constraints = (
            models.UniqueConstraint(
                fields=("result", "node", "name"), name="burnin_metric_of_a_node_is_unique"
            ),
            # SQLite knows no NULLS NOT DISTINCT.
            models.UniqueConstraint(
                fields=("result", "name"),
                condition=Q(node__isnull=True),
                name="burnin_metric_of_all_nodes_is_unique",
            ),
        )

    def __str__(self) -> str:
        return f"{self.label} {self.value} {self.unit}".rstrip()


class PairMetric(models.Model):
    """One metric of a result in one direction between two nodes. The test declares its unit.

    `link` names the ports of both ends, like mlx5_0:1; "" is the pair as a whole.
    """

    result = models.ForeignKey(TestResult, on_delete=models.CASCADE, related_name="pairs")
    source = models.ForeignKey(Node, on_delete=models.PROTECT, related_name="+")
    target = models.ForeignKey(Node, on_delete=models.PROTECT, related_name="+")
    name = models.CharField(max_length=63)
    link = models.CharField(max_length=63, blank=True, default="")
    value = models.FloatField()

    class Meta:
        ordering = ("result", "name", "source", "target", "link")
        constraints = (
            models.UniqueConstraint(
                fields=("result", "name", "source", "target", "link"),
                name="burnin_pair_metric_is_unique",
            ),
            models.CheckConstraint(
                condition=~Q(source=models.F("target")), name="burnin_pair_is_two_nodes"
            ),
        )

    def __str__(self) -> str:
        return f"{self.name} {self.source}→{self.target} {self.value:g}"
