"""The rows of burn-in. One module a subject; this is the one place that gathers them."""

from burnin.models.artifact import Artifact
from burnin.models.event import TestRunEvent
from burnin.models.job import Job, JobCount, JobNode
from burnin.models.latest import LatestResult
from burnin.models.preset import Preset, PresetStep
from burnin.models.result import MetricRow, TestResult
from burnin.models.run import Attempt, RunNode, TestRun
from burnin.models.threshold import ThresholdVersion

__all__ = [
    "Artifact",
    "Attempt",
    "Job",
    "JobCount",
    "JobNode",
    "LatestResult",
    "MetricRow",
    "Preset",
    "PresetStep",
    "RunNode",
    "TestResult",
    "TestRun",
    "TestRunEvent",
    "ThresholdVersion",
]
