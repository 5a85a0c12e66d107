"""What a new test is called everywhere, all of it from its slug."""

from __future__ import annotations

import keyword
from collections.abc import Iterable
from dataclasses import dataclass

from burnin.hardware_tests.base import SLUG
from burnin.hardware_tests.registry import ConfusingSlugs, refuse_confusing_slugs

LONGEST = 22  # letters: longer names would break the lines they stand in


class ScaffoldRefused(ValueError):
    """No test can be written of this name, or here. Nothing was changed."""


@dataclass(frozen=True)
class Names:
    """`words` is the slug without its stage, as file names below results/ have it."""

    slug: str
    stage: str
    words: str

    @property
    def package(self) -> str:
        return self.stage.replace("-", "_")

    @property
    def module(self) -> str:
        return self.words.replace("-", "_")

    @property
    def class_name(self) -> str:
        return "".join(word.capitalize() for word in self.words.split("-"))

    @property
    def constant(self) -> str:
        return self.module.upper()

    @property
    def display_name(self) -> str:
        return self.words.replace("-", " ").capitalize()


def names_of(slug: str, taken: Iterable[str]) -> Names:
    """Return the names of a new test beside the slugs that there are. Raises ScaffoldRefused."""
    if not SLUG.fullmatch(slug):
        raise ScaffoldRefused(
            f"{slug!r:.100} is no slug: write single-node.<words-with-dashes>, multi-node.… or "
            "pairwise.…, in lower case"
        )
    taken = tuple(taken)
    if slug in taken:
        raise ScaffoldRefused(f"there is a test {slug} already: choose another name")
    try:
        refuse_confusing_slugs([*taken, slug])
    except ConfusingSlugs as error:
        raise ScaffoldRefused(f"{error}, the new one") from None
    stage, _, words = slug.partition(".")
    names = Names(slug, stage, words)
    _refuse_bad_words(names)
    return names


def _refuse_bad_words(names: Names) -> None:
    if not names.module.isidentifier() or keyword.iskeyword(names.module):
        raise ScaffoldRefused(f"{names.module!r} cannot be the name of a Python module")
    if keyword.iskeyword(names.class_name):
        raise ScaffoldRefused(f"{names.class_name!r} cannot be the name of a Python class")
    if len(names.words) > LONGEST:
        raise ScaffoldRefused(f"{names.words!r} is longer than {LONGEST} letters: shorten it")
    if names.words.startswith("test"):
        raise ScaffoldRefused(f"pytest would take {names.class_name} for its own: leave 'test' out")
