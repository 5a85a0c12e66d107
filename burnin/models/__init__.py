"""The rows of burn-in. One module a subject; this is the one place that gathers them."""

from burnin.models.acceptance import Acceptance
from burnin.models.artifact import Artifact
from burnin.models.attempt import Attempt
from burnin.models.audit import AuditEntry
from burnin.models.event import TestRunEvent
from burnin.models.job import Job, JobCount, JobNode
from burnin.models.latest import LatestResult
from burnin.models.part_health import PartHealth
from burnin.models.preset import Preset, PresetStep
from burnin.models.result import MetricRow, PairMetric, TestResult
from burnin.models.run import RunNode, TestRun
from burnin.models.standing import NodeStanding
from burnin.models.step_time import StepTime
from burnin.models.threshold import ThresholdVersion
from burnin.models.trouble import Trouble

__all__ = [
    "Acceptance",
    "Artifact",
    "Attempt",
    "AuditEntry",
    "Job",
    "JobCount",
    "JobNode",
    "LatestResult",
    "MetricRow",
    "NodeStanding",
    "PairMetric",
    "PartHealth",
    "Preset",
    "PresetStep",
    "RunNode",
    "StepTime",
    "TestResult",
    "TestRun",
    "TestRunEvent",
    "ThresholdVersion",
    "Trouble",
]
