"""Resource classes and presets that a release ships, brought into the database once."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError as BadRow
from django.db import transaction
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from burnin.hardware_tests.located_yaml import BadYaml, read
from burnin.models.acceptance import Acceptance
from burnin.models.preset import Preset, PresetStep
from burnin.models.shipped_classes import shipped_class
from fleet.models import ResourceClass

CATALOGUE_YAML = Path(__file__).parents[1] / "catalogue.yaml"


class BadCatalogue(ValueError):
    """The file says something that cannot be meant. Nothing of it was loaded."""


@dataclass(frozen=True)
class Loaded:
    """Names of what was added, and of presets that stand here otherwise than in the file.

    Of the classes that a new preset would accept, `accepted_elsewhere` stay with another one.
    """

    resource_classes: tuple[str, ...]
    presets: tuple[str, ...]
    kept_otherwise: tuple[str, ...]
    accepted_elsewhere: tuple[str, ...] = ()


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class _Step(_Shape):
    test: str
    stage: int = Field(ge=1)
    timeout_minutes: int = Field(ge=1)
    params: dict[str, Any] = Field(default_factory=dict)
    iterations: int = Field(default=1, ge=1)
    is_gate: bool = True
    measure_only: bool = False
    max_attempts: int = Field(default=2, ge=1)
    only_if_site_sets: bool = False


class _Preset(_Shape):
    description: str = ""
    accepts: list[str] = Field(default_factory=list)
    steps: list[_Step] = Field(min_length=1)

    @field_validator("accepts")
    @classmethod
    def _in_order(cls, names: list[str]) -> list[str]:
        return sorted(names)


class _Catalogue(_Shape):
    resource_classes: dict[str, str]
    presets: dict[str, _Preset]

    @field_validator("presets")
    @classmethod
    def _accepted_once(cls, presets: dict[str, _Preset]) -> dict[str, _Preset]:
        accepted = Counter(name for preset in presets.values() for name in preset.accepts)
        if twice := [name for name, count in accepted.items() if count > 1]:
            raise ValueError(f"nodes of {twice[0]:.80} are accepted twice")
        return presets


@transaction.atomic
def load_catalogue(path: Path = CATALOGUE_YAML) -> Loaded:
    """Add what the file has and the database has not. Raises BadCatalogue."""
    catalogue = _read(path)
    classes = [
        name
        for name, description in catalogue.resource_classes.items()
        if _added(shipped_class(name, description), path, name)
    ]
    presets, otherwise, elsewhere = [], [], []
    for name, preset in catalogue.presets.items():
        standing = Preset.objects.filter(name=name).first()
        if standing is None:
            elsewhere += _accepted_already(preset)
            _add(name, preset, path)
            presets.append(name)
        elif not _is_as_stated(standing, preset):
            otherwise.append(name)
    return Loaded(tuple(classes), tuple(presets), tuple(otherwise), tuple(elsewhere))


def _read(path: Path) -> _Catalogue:
    try:
        return _Catalogue.model_validate(read(path))
    except BadYaml as error:
        raise BadCatalogue(str(error)) from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the top"
        raise BadCatalogue(f"{path.name}: {where}: {first['msg']}") from None


def _added(row: ResourceClass, path: Path, name: str) -> bool:
    if ResourceClass.objects.filter(name=name).exists():
        return False
    _save(row, f"{path.name}: resource class {name}")
    return True


def _accepted_already(stated: _Preset) -> list[str]:
    accepted = Acceptance.objects.filter(resource_class__name__in=stated.accepts)
    return list(accepted.values_list("resource_class__name", flat=True))


def _add(name: str, stated: _Preset, path: Path) -> None:
    where = f"{path.name}: preset {name}"
    preset = Preset(name=name, description=stated.description)
    _save(preset, where)
    for resource_class in stated.accepts:
        _accept(preset, resource_class, where)
    for position, step in enumerate(stated.steps, start=1):
        fields = step.model_dump(exclude={"test"})
        row = PresetStep(preset=preset, position=position, slug=step.test, **fields)
        _save(row, f"{where}: step {position}")


def _accept(preset: Preset, resource_class: str, where: str) -> None:
    """Let the preset accept the class, unless an operator gave that to another one."""
    known = ResourceClass.objects.filter(name=resource_class).first()
    if known is None:
        raise BadCatalogue(f"{where}: there is no resource class {resource_class!r:.80}")
    Acceptance.objects.get_or_create(resource_class=known, defaults={"preset": preset})


def _save(row: ResourceClass | Preset | PresetStep, where: str) -> None:
    try:
        row.full_clean()
    except BadRow as error:
        raise BadCatalogue(f"{where}: {' '.join(error.messages)}") from None
    row.save()


def _is_as_stated(preset: Preset, stated: _Preset) -> bool:
    """Say whether a preset of the database, which may have lost every step, is as in the file."""
    steps = [
        _Step(
            test=step.slug,
            stage=step.stage,
            timeout_minutes=step.timeout_minutes,
            params=step.params,
            iterations=step.iterations,
            is_gate=step.is_gate,
            measure_only=step.measure_only,
            max_attempts=step.max_attempts,
            only_if_site_sets=step.only_if_site_sets,
        )
        for step in preset.steps.order_by("position")
    ]
    here = (preset.description, sorted(preset.accepts), steps)
    return here == (stated.description, stated.accepts, stated.steps)
