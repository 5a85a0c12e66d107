"""Resource classes and presets that a release ships, brought into the database once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError as BadRow
from django.db import transaction
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from burnin.hardware_tests.located_yaml import BadYaml, read
from burnin.models.preset import Preset, PresetStep
from fleet.models import ResourceClass

CATALOGUE_YAML = Path(__file__).parents[1] / "catalogue.yaml"


class BadCatalogue(ValueError):
    """The file says something that cannot be meant. Nothing of it was loaded."""


@dataclass(frozen=True)
class Loaded:
    """Names of what was added, and of presets that stand here otherwise than in the file."""

    resource_classes: tuple[str, ...]
    presets: tuple[str, ...]
    kept_otherwise: tuple[str, ...]


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


class _Preset(_Shape):
    description: str = ""
    accepts: str | None = None
    steps: list[_Step] = Field(min_length=1)


class _Catalogue(_Shape):
    resource_classes: dict[str, str]
    presets: dict[str, _Preset]


@transaction.atomic
def load_catalogue(path: Path = CATALOGUE_YAML) -> Loaded:
    """Add what the file has and the database has not. Raises BadCatalogue."""
    catalogue = _read(path)
    classes = [
        name
        for name, description in catalogue.resource_classes.items()
        if _added(ResourceClass(name=name, description=description), path, name)
    ]
    presets, otherwise = [], []
    for name, preset in catalogue.presets.items():
        standing = Preset.objects.filter(name=name).first()
        if standing is None:
            _add(name, preset, path)
            presets.append(name)
        elif _as_stated(standing) != preset:
            otherwise.append(name)
    return Loaded(tuple(classes), tuple(presets), tuple(otherwise))


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


def _add(name: str, stated: _Preset, path: Path) -> None:
    where = f"{path.name}: preset {name}"
    accepts = ResourceClass.objects.filter(name=stated.accepts).first()
    if stated.accepts and accepts is None:
        raise BadCatalogue(f"{where}: there is no resource class {stated.accepts!r:.80}")
    preset = Preset(name=name, description=stated.description, accepts=accepts)
    _save(preset, where)
    for position, step in enumerate(stated.steps, start=1):
        fields = step.model_dump(exclude={"test"})
        row = PresetStep(preset=preset, position=position, slug=step.test, **fields)
        _save(row, f"{where}: step {position}")


def _save(row: ResourceClass | Preset | PresetStep, where: str) -> None:
    try:
        row.full_clean()
    except BadRow as error:
        raise BadCatalogue(f"{where}: {' '.join(error.messages)}") from None
    row.save()


def _as_stated(preset: Preset) -> _Preset:
    """Return a preset of the database as the file would state it."""
    return _Preset(
        description=preset.description,
        accepts=preset.accepts.name if preset.accepts else None,
        steps=[
            _Step(
                test=step.slug,
                stage=step.stage,
                timeout_minutes=step.timeout_minutes,
                params=step.params,
                iterations=step.iterations,
                is_gate=step.is_gate,
                measure_only=step.measure_only,
            )
            for step in preset.steps.order_by("position")
        ],
    )
