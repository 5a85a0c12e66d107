"""What is acceptable: the schema of a test's limits, and a limit as it was used for a verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict

from burnin.hardware_tests.metrics import Better, MetricUnit


class Thresholds(BaseModel):
    """Limits of one test, each in its metric's unit. The values are in thresholds.yaml."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    @classmethod
    def gates(cls, metric: str) -> bool:
        """Say whether this schema has a limit for the metric."""
        return metric in cls.model_fields

    def catalogue_thresholds(self) -> dict[str, float]:
        """Return every limit by metric name, in declared order."""
        return {name: float(value) for name, value in self.model_dump().items()}


class GenericThresholds(Thresholds):
    """Plain numbers, one for each metric that has a direction."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, float]

    @classmethod
    def gates(cls, metric: str) -> bool:
        return True


class Standing(StrEnum):
    """What a bound does to a verdict."""

    GATES = "gates"
    NOT_GATED = "not_gated"  # shown, never decides
    UNCALIBRATED = "uncalibrated"  # makes the run errored


@dataclass(frozen=True)
class Bound:
    """One limit as thresholds.yaml states it. `value` is None unless it gates.

    `fingerprint` is set on a calibrated limit: it holds only for a result with the same one.
    `why` is the reason of a bound that does not gate.
    """

    metric: str
    value: float | None
    better: Better
    unit: MetricUnit
    version: str
    source: str = ""
    confidence: str = ""
    fingerprint: str | None = None
    standing: Standing = Standing.GATES
    why: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the bound as it is stored beside an evaluation."""
        return {**vars(self)}


@dataclass(frozen=True)
class ThresholdSet:
    """Every bound of one test on one resource class, by metric name."""

    slug: str
    resource_class: str
    version: str
    bounds: Mapping[str, Bound]
