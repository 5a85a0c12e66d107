"""Every hardware test there is. A new one is one entry here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import SequenceMatcher, get_close_matches

from burnin.hardware_tests.base import BaseTest
from burnin.hardware_tests.single_node.hello_world import HelloWorld
from burnin.hardware_tests.single_node.memory_stress import MemoryStress
from burnin.hardware_tests.single_node.node_health import NodeHealthCheckTest
from burnin.hardware_tests.single_node.storage import Storage

_REGISTERED_TESTS: tuple[type[BaseTest], ...] = (
    HelloWorld,
    NodeHealthCheckTest,
    MemoryStress,
    Storage,
)


class UnknownSlug(LookupError):
    """No test has this slug. The message names those that come near."""


class ConfusingSlugs(ValueError):
    """Two tests have names that an operator would mix up."""


def get_test_class(slug: str) -> type[BaseTest]:
    """Return the test of this slug. Raises UnknownSlug."""
    known = {test.slug: test for test in _REGISTERED_TESTS}
    if slug in known:
        return known[slug]
    near = get_close_matches(slug, known, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(known)}"
    raise UnknownSlug(f"there is no test {slug!r:.100}; {hint}")


def list_all_tests() -> tuple[type[BaseTest], ...]:
    """Return every test, in the order of the registry."""
    return _REGISTERED_TESTS


def refuse_confusing_slugs(tests: Iterable[type[BaseTest]]) -> None:
    """Raise ConfusingSlugs for equal slugs and for such as differ by a letter or a dash."""
    seen: dict[str, str] = {}
    for test in tests:
        folded = test.slug.replace("-", "").removesuffix("s")
        if near := _near(folded, seen):
            raise ConfusingSlugs(f"{test.slug} and {seen[near]} are too alike: rename one")
        seen[folded] = test.slug


def _near(folded: str, seen: Mapping[str, str]) -> str:
    for other in seen:
        if SequenceMatcher(None, folded, other).ratio() > 0.97:
            return other
    return ""


refuse_confusing_slugs(_REGISTERED_TESTS)
