"""Reads thresholds.yaml: every limit with its source, refused when it cannot be what was meant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from burnin.hardware_tests.located_yaml import BadYaml, Located, located, parse, text_of
from burnin.hardware_tests.resource_classes import HARDWARE
from burnin.hardware_tests.thresholds.entry import (
    Entry,
    HasThresholds,
    read_bound,
    refuse_unknown_keys,
)
from burnin.hardware_tests.thresholds.errors import BadThresholds, NoThresholds
from burnin.hardware_tests.thresholds.schema import Bound, Standing, ThresholdSet
from runner.contract.slugs import all_slugs

THRESHOLDS_YAML = Path(__file__).with_name("thresholds.yaml")
DEFAULTS = "defaults"
NO_DEFAULT = "no release states a limit of it for this class"

_SLUGS = frozenset(all_slugs())
_TOP_KEYS = frozenset({"version", "resource_classes", "tests"})


@dataclass(frozen=True)
class ThresholdFile:
    """thresholds.yaml with its outer shape checked."""

    name: str
    version: str
    resource_classes: tuple[str, ...]
    tests: Located


def load(test: HasThresholds, resource_class: str, *, path: Path = THRESHOLDS_YAML) -> ThresholdSet:
    """Return every bound of a test on a resource class. Raises NoThresholds or BadThresholds."""
    try:
        return _load(test, resource_class, read_thresholds(path, known=(test.slug,)))
    except BadYaml as error:
        raise BadThresholds(str(error)) from None


def load_stated(
    test: HasThresholds, resource_class: str, stated: Mapping[str, Any], *, version: str
) -> ThresholdSet:
    """Return bounds that are kept elsewhere than in the file, held to the same rules.

    `stated` maps metrics to what the file would say of them. Raises NoThresholds or BadThresholds.
    """
    place = f"{version} of {test.slug} on {resource_class}"
    tests = located({test.slug: {resource_class: stated}}, place=place)
    return _load(test, resource_class, ThresholdFile(place, version, (resource_class,), tests))


def stated_limits(
    test: HasThresholds, resource_class: str, *, path: Path = THRESHOLDS_YAML
) -> tuple[str, dict[str, dict[str, Any]]]:
    """Return the file's version and, by metric, what it says for the class: for `load_stated`.

    Raises NoThresholds or BadThresholds.
    """
    thresholds = load(test, resource_class, path=path)
    entries = _entries(read_thresholds(path, known=(test.slug,)).tests[test.slug], resource_class)
    return thresholds.version, {name: dict(entries[name].stated) for name in thresholds.bounds}


def default_limits(
    test: HasThresholds, resource_class: str, *, path: Path = THRESHOLDS_YAML
) -> tuple[str, dict[str, dict[str, Any]]]:
    """Return, like `stated_limits`, what the file says of any class, for one that it does not know.

    What it says of single classes alone is uncalibrated here. Raises NoThresholds or BadThresholds.
    """
    try:
        file = read_thresholds(path, known=(test.slug,))
    except BadYaml as error:
        raise BadThresholds(str(error)) from None
    entries = _entries(file.tests.get(test.slug, Located()), DEFAULTS)
    bounds = {name: dict(entry.stated) for name, entry in entries.items()}
    for name, declared in test.metrics_class.declarations().items():
        if declared.better and not declared.gate_reason:
            bounds.setdefault(name, {"uncalibrated": NO_DEFAULT})
    load_stated(test, resource_class, bounds, version=file.version)
    return file.version, bounds


def known_resource_classes(path: Path = THRESHOLDS_YAML) -> tuple[str, ...]:
    """Return the classes that limits can be stated for. Raises BadThresholds."""
    try:
        return read_thresholds(path).resource_classes
    except BadYaml as error:
        raise BadThresholds(str(error)) from None


def read_thresholds(path: Path = THRESHOLDS_YAML, *, known: tuple[str, ...] = ()) -> ThresholdFile:
    """Return the file, its outer keys checked. Raises BadThresholds or BadYaml."""
    return _read(text_of(path), path.name, frozenset(known) - _SLUGS)


@lru_cache(maxsize=8)  # as for parsing
def _read(text: str, name: str, more: frozenset[str]) -> ThresholdFile:
    top = parse(text, name)
    refuse_unknown_keys(top, _TOP_KEYS, what="key")
    for key in sorted(_TOP_KEYS - set(top)):
        raise BadThresholds(f"{name}:1: {key!r} is missing")
    version, classes = _version(top), _classes(top)
    tests = top["tests"]
    if not isinstance(tests, Located):
        raise BadThresholds(f"{top.at('tests')}: 'tests' must map slugs to limits")
    refuse_unknown_keys(tests, _SLUGS | more, what="test")
    for slug, entry in tests.items():
        if not isinstance(entry, Located):
            raise BadThresholds(
                f"{tests.at(slug)}: {slug} must map 'defaults' or classes to limits"
            )
        refuse_unknown_keys(entry, {DEFAULTS, *classes}, what="resource class")
    return ThresholdFile(name, version, classes, tests)


def _version(top: Located) -> str:
    version: str = top["version"]
    if not _is_text(version):
        raise BadThresholds(f"{top.at('version')}: 'version' must be a text, in quotes if need be")
    return version


def _classes(top: Located) -> tuple[str, ...]:
    stated = top["resource_classes"]
    if not isinstance(stated, list) or not all(_is_text(each) for each in stated):
        raise BadThresholds(f"{top.at('resource_classes')}: 'resource_classes' must list texts")
    if len(set(stated)) != len(stated):
        raise BadThresholds(
            f"{top.at('resource_classes')}: 'resource_classes' must list each class once"
        )
    return tuple(stated)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _load(test: HasThresholds, resource_class: str, file: ThresholdFile) -> ThresholdSet:
    if resource_class not in file.resource_classes:
        raise NoThresholds(
            f"there is no resource class {resource_class!r} in {file.name}; "
            f"it knows {', '.join(file.resource_classes)}"
        )
    if test.slug not in file.tests:
        raise NoThresholds(f"{file.name} has no limits for {test.slug}: add tests: {test.slug}:")
    bounds = {
        name: read_bound(test, name, entry, version=file.version)
        for name, entry in _entries(file.tests[test.slug], resource_class).items()
    }
    _refuse_missing(test, resource_class, bounds, file)
    _refuse_undecided(test, bounds, file)
    _validate(test, bounds, file)
    ordered = {name: bounds[name] for name in test.metrics_class.declarations() if name in bounds}
    hardware = HARDWARE.get(resource_class)
    return ThresholdSet(test.slug, resource_class, file.version, ordered, hardware)


def _entries(limits: Located, resource_class: str) -> dict[str, Entry]:
    """Return the entries by metric: those of the class stand before the defaults."""
    found: dict[str, Entry] = {}
    for key in (DEFAULTS, resource_class):
        block = limits.get(key, Located())
        if not isinstance(block, Located):
            raise BadThresholds(f"{limits.at(key)}: {key!r} must map metrics to limits")
        for name, stated in block.items():
            if not isinstance(stated, Located):
                raise BadThresholds(f"{block.at(name)}: {name} needs value, source and confidence")
            found[name] = Entry(block.at(name), stated)
    return found


def _refuse_missing(
    test: HasThresholds, resource_class: str, bounds: Mapping[str, Bound], file: ThresholdFile
) -> None:
    for name, declared in test.metrics_class.declarations().items():
        if declared.better and not declared.gate_reason and name not in bounds:
            raise NoThresholds(
                f"{file.tests.at(test.slug)}: {test.slug} has no limit for {name}: add "
                f"tests: {test.slug}: {resource_class}: {name}: {{value: …, source: …, "
                "confidence: …} or {not_gated: <reason>} or {uncalibrated: <reason>}"
            )


def _refuse_undecided(
    test: HasThresholds, bounds: Mapping[str, Bound], file: ThresholdFile
) -> None:
    if all(bound.standing is Standing.NOT_GATED for bound in bounds.values()):
        raise NoThresholds(
            f"{file.tests.at(test.slug)}: no limit of {test.slug} decides: give one a value"
        )


def _validate(test: HasThresholds, bounds: Mapping[str, Bound], file: ThresholdFile) -> None:
    """Let the test's own schema look at the values. What does not gate has none to show."""
    values: dict[str, Any] = {
        name: bound.value for name, bound in bounds.items() if bound.value is not None
    }
    whole = {
        name: int(value) if _wants_int(test, name) and float(value).is_integer() else value
        for name, value in values.items()
    }
    try:
        test.thresholds_class.model_validate(whole)
    except ValidationError as error:
        for each in error.errors(include_url=False):
            name = str(each["loc"][0]) if each["loc"] else ""
            if each["type"] == "missing" and (name in bounds or _excused(test, name)):
                continue
            where = file.tests.at(test.slug)
            raise BadThresholds(f"{where}: {test.slug}: {name}: {each['msg']}") from None


def _excused(test: HasThresholds, name: str) -> bool:
    declared = test.metrics_class.declarations().get(name)
    return declared is not None and bool(declared.gate_reason)


def _wants_int(test: HasThresholds, name: str) -> bool:
    field = test.thresholds_class.model_fields.get(name)
    return field is not None and field.annotation is int
