"""A step of a preset as a job freezes it: later edits change no running job."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from burnin.hardware_tests.metrics import Better, MetricUnit
from burnin.hardware_tests.params import TestParams, parse_params
from burnin.hardware_tests.registry import get_test_class
from burnin.hardware_tests.thresholds.schema import Bound, Standing, ThresholdSet


@dataclass(frozen=True)
class FrozenThresholds:
    """The limits of one resource class. `version_id` is the row they came from."""

    version_id: int
    label: str
    bounds: Mapping[str, Bound]

    def as_json(self) -> dict[str, Any]:
        bounds = {name: bound.as_json() for name, bound in self.bounds.items()}
        return {"version_id": self.version_id, "label": self.label, "bounds": bounds}

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> FrozenThresholds:
        bounds = {name: _bound(each) for name, each in kept["bounds"].items()}
        return cls(kept["version_id"], kept["label"], bounds)


@dataclass(frozen=True)
class Step:
    """One test of a job. `recipe` is what its fingerprint is made of, as far as the hub knows it.

    `thresholds` holds the limits by resource class, for every class among the job's nodes.
    """

    position: int
    stage: int
    slug: str
    params: Mapping[str, Any]
    timeout_minutes: int
    iterations: int
    is_gate: bool
    measure_only: bool
    recipe: Mapping[str, Any]
    thresholds: Mapping[str, FrozenThresholds]

    @property
    def bars_the_way(self) -> bool:
        """Say whether a node that does not pass leaves the job. Measuring proves nothing."""
        return self.is_gate and not self.measure_only

    def parsed_params(self) -> TestParams:
        return parse_params(get_test_class(self.slug), self.params)

    def limits_for(self, resource_class: str) -> ThresholdSet:
        """Return the frozen limits. Raises KeyError for a class that the job did not have."""
        frozen = self.thresholds[resource_class]
        return ThresholdSet(self.slug, resource_class, frozen.label, frozen.bounds)

    def as_json(self) -> dict[str, Any]:
        frozen = {name: each.as_json() for name, each in self.thresholds.items()}
        return {**vars(self), "thresholds": frozen}

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Step:
        frozen = {
            name: FrozenThresholds.from_json(each) for name, each in kept["thresholds"].items()
        }
        return cls(**{**kept, "thresholds": frozen})


def steps_of(kept: list[Mapping[str, Any]]) -> dict[int, Step]:
    """Return a job's steps by position."""
    return {each["position"]: Step.from_json(each) for each in kept}


def recipe_of(slug: str) -> dict[str, Any]:
    """Return what the test fixes and its thresholds were calibrated against."""
    test = get_test_class(slug)
    return {
        "recipe_version": test.recipe_version,
        "fixed_knobs": dict(test.fixed_knobs),
        "tools": list(test.fingerprint_tools),
    }


def _bound(kept: Mapping[str, Any]) -> Bound:
    return Bound(
        **{
            **kept,
            "better": Better(kept["better"]),
            "unit": MetricUnit(kept["unit"]),
            "standing": Standing(kept["standing"]),
        }
    )
