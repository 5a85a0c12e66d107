"""Which hardware operation makes which evidence stale (`stale_test_operations.yaml`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from burnin.hardware_tests.located_yaml import BadYaml, Located, read
from runner.contract.slugs import all_slugs

STALE_TEST_OPERATIONS_YAML = Path(__file__).parents[1] / "stale_test_operations.yaml"


class BadStaleOperations(ValueError):
    """The file says something that cannot be meant. The message begins with its line."""


@dataclass(frozen=True)
class StaleOperation:
    """Something done to a node, in words, and the slugs whose evidence it spoils."""

    name: str
    means: str
    stales: tuple[str, ...]


def load_stale_operations(
    path: Path = STALE_TEST_OPERATIONS_YAML,
) -> Mapping[str, StaleOperation]:
    """Return every operation by name. Raises BadStaleOperations."""
    try:
        top = read(path)
    except BadYaml as error:
        raise BadStaleOperations(str(error)) from None
    operations = top.get("operations")
    if set(top) != {"operations"} or not isinstance(operations, Located):
        raise BadStaleOperations(f"{path.name}:1: must hold one mapping, 'operations'")
    return {name: _operation(operations, name) for name in operations}


def operations_that_stale(slug: str, operations: Mapping[str, StaleOperation]) -> tuple[str, ...]:
    """Return the names of the operations after which evidence of this test no longer counts."""
    return tuple(name for name, each in operations.items() if slug in each.stales)


def _operation(operations: Located, name: str) -> StaleOperation:
    where, stated = operations.at(name), operations[name]
    if not isinstance(stated, Located) or set(stated) != {"means", "stales"}:
        raise BadStaleOperations(f"{where}: {name} needs 'means' and 'stales', and nothing else")
    means, stales = stated["means"], stated["stales"]
    if not isinstance(means, str) or not means.strip():
        raise BadStaleOperations(f"{where}: {name} must say what it means in words")
    if not isinstance(stales, list) or len(set(map(str, stales))) != len(stales):
        raise BadStaleOperations(f"{where}: the 'stales' of {name} must list each slug once")
    for slug in stales:
        if slug not in all_slugs():
            raise BadStaleOperations(
                f"{stated.at('stales')}: {name} names {slug!r}, which is no test"
            )
    return StaleOperation(name, means.strip(), tuple(stales))
