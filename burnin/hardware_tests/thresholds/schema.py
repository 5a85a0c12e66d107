"""What is acceptable: the schema of a test's limits, and a limit as it was used for a verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict

from burnin.hardware_tests.metrics import Better, FabricFact, MetricUnit
from fleet.hardware import Hardware


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
    `num_nodes` is set on a limit that moves with the number of nodes: it holds for that many only.
    `fabric` holds the facts of the network that it was published for: it holds for such results.
    `by_fabric` are the limits of several fabrics, of which none decides for any other: the bound
    itself then is uncalibrated.
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
    num_nodes: int | None = None
    standing: Standing = Standing.GATES
    why: str = ""
    fabric: Mapping[str, FabricFact] = field(default_factory=dict)
    by_fabric: tuple[Bound, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the bound as it is stored beside an evaluation."""
        each = [limit.as_json() for limit in self.by_fabric]
        return {**vars(self), "fabric": dict(self.fabric), "by_fabric": each}


@dataclass(frozen=True)
class ThresholdSet:
    """Every bound of one test on one resource class, by metric name.

    `hardware` is what nodes of the class are made of; None: it was not stated.
    """

    slug: str
    resource_class: str
    version: str
    bounds: Mapping[str, Bound]
    hardware: Hardware | None = None
