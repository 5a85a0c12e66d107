"""What a run was asked to do, and whether that is as much as somebody else asks for. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from burnin.hardware_tests.registry import UnknownSlug, get_test_class

NAMES_SHOWN = 3
DIGEST_LENGTH = 16


@dataclass(frozen=True)
class Workload:
    """A test, every param of it as plain JSON (defaults filled), and how often it is repeated."""

    slug: str
    params: Mapping[str, Any]
    iterations: int

    @property
    def digest(self) -> str:
        told = json.dumps([self.params, self.iterations], sort_keys=True)
        return hashlib.sha256(told.encode()).hexdigest()[:DIGEST_LENGTH]

    def meets(self, asked: Workload) -> bool:
        """Say whether this does all that `asked` asks for: as much of each, or more."""
        return not self.shortfall(asked)

    def shortfall(self, asked: Workload) -> str:
        """Say what `asked` asks for and this does not do; "" if it does all of it.

        More counts as enough where the params say so (`TestParams.at_least`). What an older
        release asked for and no run can be told any more is left out.
        """
        if self == asked:
            return ""
        if self.slug != asked.slug:
            return f"it was {self.slug:.80}, and {asked.slug:.80} is asked for"
        known, at_least = _params_of(self.slug)
        short = [
            _short(name, self.params.get(name), value, more_is_enough=name in at_least)
            for name, value in asked.params.items()
            if known is None or name in known
        ]
        if self.iterations < asked.iterations:
            short.append(f"iterations was {self.iterations}, at least {asked.iterations} asked for")
        return "; ".join(each for each in short if each)


def is_met(asked: Workload | None, did: Workload | None) -> bool:
    """Say whether one does all that the other asks for. What is not known meets nothing."""
    return asked is not None and did is not None and did.meets(asked)


def _params_of(slug: str) -> tuple[Collection[str] | None, Collection[str]]:
    """Return the names of a test's params, None if nobody knows it, and where more is enough."""
    try:
        params = get_test_class(slug).params_class
    except UnknownSlug:
        return None, ()
    return params.model_fields, params.at_least


def _short(name: str, did: Any, asked: Any, *, more_is_enough: bool) -> str:
    if did == asked:
        return ""
    match did, asked:
        case list(), list() if more_is_enough:
            lacking = [str(each) for each in asked if each not in did]
            return f"{name} left out {_listed(lacking)}" if lacking else ""
        case int() | float(), int() | float() if more_is_enough:
            return "" if did >= asked else f"{name} was {did}, at least {asked} asked for"
    return f"{name} was {_worded(did)}, {_worded(asked)} asked for"


def _listed(names: list[str]) -> str:
    more = len(names) - NAMES_SHOWN
    return ", ".join(names[:NAMES_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _worded(value: Any) -> str:
    return "not known" if value is None else f"{json.dumps(value):.60}"
