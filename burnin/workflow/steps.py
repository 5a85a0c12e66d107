"""A step of a preset as a job freezes it: later edits change no running job."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from burnin.hardware_tests.metrics import Better, MetricUnit
from burnin.hardware_tests.params import TestParams, parse_params
from burnin.hardware_tests.registry import get_test_class
from burnin.hardware_tests.resource_classes import HARDWARE
from burnin.hardware_tests.thresholds.schema import Bound, Standing, ThresholdSet
from fleet.hardware import Hardware


class UnreadableStep(Exception):
    """A step was frozen by another release, and this one cannot read it. Plan the job anew."""


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

    `thresholds` holds the limits by resource class, for every class among the job's nodes, and
    `params_on` the params of those classes that are not asked for all of `params`, `hardware` what
    the nodes are made of.
    A run takes up to `max_attempts` Slurm jobs, where infrastructure fails it.
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
    max_attempts: int = 2
    params_on: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    hardware: Mapping[str, Hardware] = field(default_factory=dict)

    @property
    def bars_the_way(self) -> bool:
        """Say whether a node that does not pass leaves the job. Measuring proves nothing."""
        return self.is_gate and not self.measure_only

    def is_for(self, resource_class: str) -> bool:
        """Say whether nodes of this class have what the test needs."""
        return resource_class in self.thresholds

    def params_for(self, resource_class: str) -> Mapping[str, Any]:
        return self.params_on.get(resource_class, self.params)

    def parsed_params(self, resource_class: str) -> TestParams:
        return parse_params(get_test_class(self.slug), self.params_for(resource_class))

    def not_asked(self) -> dict[str, list[str]]:
        """Return what is named in lists of `params` and not asked of a class, by class."""
        return {
            name: [
                str(each)
                for param, values in self.params.items()
                if isinstance(values, list)
                for each in values
                if each not in less[param]
            ]
            for name, less in self.params_on.items()
        }

    def limits_for(self, resource_class: str) -> ThresholdSet:
        """Return the frozen limits. Raises KeyError for a class that the job did not have."""
        frozen = self.thresholds[resource_class]
        hardware = self.hardware.get(resource_class)
        return ThresholdSet(self.slug, resource_class, frozen.label, frozen.bounds, hardware)

    def hardware_for(self, resource_class: str) -> Hardware:
        """Return what the class was made of when the job was planned. Raises UnreadableStep."""
        if resource_class not in self.hardware:
            raise UnreadableStep(f"the job froze no hardware of {resource_class}: plan it anew")
        return self.hardware[resource_class]

    def as_json(self) -> dict[str, Any]:
        frozen = {name: each.as_json() for name, each in self.thresholds.items()}
        hardware = {name: each.as_json() for name, each in self.hardware.items()}
        return {**vars(self), "thresholds": frozen, "hardware": hardware}

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Step:
        """Raises UnreadableStep."""
        try:
            frozen = {
                name: FrozenThresholds.from_json(each) for name, each in kept["thresholds"].items()
            }
            return cls(**{**kept, "thresholds": frozen, "hardware": _hardware(kept)})
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            why = f"{type(error).__name__}: {error}"
            raise UnreadableStep(
                f"the job's steps were frozen by another release ({why}): plan it anew"
            ) from error


def steps_of(kept: list[Mapping[str, Any]]) -> dict[int, Step]:
    """Return a job's steps by position. Raises UnreadableStep."""
    return {each["position"]: Step.from_json(each) for each in kept}


def recipe_of(slug: str) -> dict[str, Any]:
    """Return what the test fixes and its thresholds were calibrated against."""
    test = get_test_class(slug)
    return {
        "recipe_version": test.recipe_version,
        "fixed_knobs": dict(test.fixed_knobs),
        "tools": list(test.fingerprint_tools),
    }


def _hardware(kept: Mapping[str, Any]) -> dict[str, Hardware]:
    """Return it by class. Jobs of older releases froze none: shipped classes have their own."""
    if "hardware" not in kept:
        return {name: HARDWARE[name] for name in kept["thresholds"] if name in HARDWARE}
    return {name: Hardware.from_json(name, each) for name, each in kept["hardware"].items()}


def _bound(kept: Mapping[str, Any]) -> Bound:
    return Bound(
        **{
            **kept,
            "better": Better(kept["better"]),
            "unit": MetricUnit(kept["unit"]),
            "standing": Standing(kept["standing"]),
            "by_fabric": tuple(_bound(each) for each in kept.get("by_fabric", ())),
        }
    )
