"""What may be turned about a test: what the workload does, never how Slurm schedules it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, ClassVar, Protocol

from pydantic import BaseModel, ConfigDict, ValidationError

_ORCHESTRATION = """
    partition nodes num_nodes node_count nodelist node_list node_names exclude timeout
    timeout_minutes time_limit time_limit_minutes gpus num_gpus gpus_per_node gres account qos
    reservation priority constraint exclusive ntasks tasks_per_node ntasks_per_node
    cpus_per_task mem mem_per_node iterations site deadline job_name comment
"""
ORCHESTRATION_NAMES = frozenset(_ORCHESTRATION.split())


class BadParams(ValueError):
    """The params do not fit the test. Nothing was run; the message says what to change."""


class TestParams(BaseModel):
    """What may be turned. A knob that would move the right threshold belongs in the recipe.

    Of the params in `at_least` more proves as much and more: longer, or more of a list.
    """

    __test__: ClassVar[bool] = False
    at_least: ClassVar[frozenset[str]] = frozenset({"duration_s"})
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        for name in cls.model_fields:
            if name in ORCHESTRATION_NAMES:
                raise TypeError(
                    f"{cls.__name__}.{name} is orchestration: params say what the workload does, "
                    "RunContext says how Slurm schedules it"
                )

    def resolved(self) -> dict[str, Any]:
        """Return every param, defaults filled, as plain JSON: what the node is told."""
        return self.model_dump(mode="json")


class HasParams(Protocol):
    """The part of a test class that reads params."""

    @property
    def slug(self) -> str: ...
    @property
    def params_class(self) -> type[TestParams]: ...


def parse_params(test: HasParams, given: str | Mapping[str, Any]) -> TestParams:
    """Return the test's params from JSON text or a mapping. Raises BadParams in one sentence."""
    values = json_object(test.slug, given) if isinstance(given, str) else dict(given)
    try:
        # JSON rules either way: a list stands for a tuple, a "3" never for a 3.
        return test.params_class.model_validate_json(json.dumps(values), strict=True)
    except ValidationError as error:
        raise BadParams(_sentence(test, error)) from None
    except RecursionError:
        raise BadParams(_too_deep(test.slug)) from None
    except TypeError as error:
        raise BadParams(f"the params of {test.slug} are not plain JSON: {error}") from None


def json_object(slug: str, text: str) -> dict[str, Any]:
    """Return params as they were typed, unchecked. Raises BadParams."""
    try:
        values = json.loads(text)
    except RecursionError:
        raise BadParams(_too_deep(slug)) from None
    except ValueError as error:
        raise BadParams(f"the params of {slug} are not JSON: {error}") from None
    if not isinstance(values, dict):
        raise BadParams(f'the params of {slug} must be a JSON object like {{"name": value}}')
    return values


def _too_deep(slug: str) -> str:
    return f"the params of {slug} are nested too deeply"


def _sentence(test: HasParams, error: ValidationError) -> str:
    problems = [_problem(test, each) for each in error.errors(include_url=False)]
    return f"the params of {test.slug} do not fit: " + "; ".join(problems)


def _problem(test: HasParams, error: Any) -> str:
    path = ".".join(str(step) for step in error["loc"]) or "the whole"
    if error["type"] == "extra_forbidden":
        return f"there is no param {path!r}{_hint(path, list(test.params_class.model_fields))}"
    if error["type"] == "missing":
        return f"{path!r} is missing"
    shown = repr(error["input"])
    return f"{path!r} is {shown[:80]}: {error['msg']}"


def _hint(name: str, known: list[str]) -> str:
    if near := get_close_matches(name, known, n=1):
        return f", did you mean {near[0]!r}?"
    return f"; it has {', '.join(known)}" if known else "; the test takes none"
