"""What the node found of one thing, before it is read: a part of node-health.json."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from typing import Any, Generic, TypeVar, cast

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from burnin.hardware_tests.artifacts import ArtifactCollector
from burnin.hardware_tests.evaluation import NotMeasured
from burnin.hardware_tests.single_node.health.params import NodeHealthParams

LONGEST_TOLD = 500  # bytes of a list that is compared between nodes

Shape = TypeVar("Shape")
Found = tuple[float, str]  # the metric's value in its unit, and what and where


class FromNode(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, allow_inf_nan=False)


class Count(FromNode):
    count: int = Field(ge=0)


class Text(FromNode):
    text: str


class AtBothEnds(FromNode, Generic[Shape]):
    """What was read when the run began, and when it ended."""

    before: Shape
    after: Shape


class ToolEnd(FromNode):
    """How a tool ended. `words` is the end of what it complained of."""

    exit_code: int
    hung_s: float | None
    words: str


class Hung(NotMeasured):
    """The tool was ended because it gave no answer."""


@dataclass(frozen=True)
class Said:
    """Everything a tool wrote, and how it ended."""

    text: str
    exit_code: int
    words: str


@dataclass(frozen=True)
class Section:
    """`found` is as it came from the node: nothing vouches for its shape.

    Checks of one section share it, so that sixteen of them parse one output once.
    """

    name: str
    found: Any
    artifacts: ArtifactCollector
    asked: NodeHealthParams
    _made: dict[str, Any] = field(default_factory=dict, compare=False)

    def shaped(self, shape: type[Shape]) -> Shape:
        """Return what was found. Raises ValidationError if it has another shape."""
        found: Shape = _adapter(cast("Hashable", shape)).validate_python(self.found)
        return found

    def said(self, label: str = "") -> Said:
        """Return what the section's tool wrote. Raises Hung."""
        end = self._ends().get(label)
        if end is None:
            raise NotMeasured(f"node-health.json does not tell how its tool ended {label}".strip())
        if end.hung_s is not None:
            raise Hung(f"no answer within {end.hung_s:.0f} s")
        file = f"{self.name}-{label}.txt" if label else f"{self.name}.txt"
        text = self.artifacts.get_custom_file(file).read_text(encoding="utf-8", errors="replace")
        return Said(text, end.exit_code, end.words)

    def parsed(self, parse: Callable[[str], Shape], label: str = "") -> Shape:
        """Return what the section's one parser makes of what its tool wrote."""
        return self.once(label, lambda: parse(self.said(label).text))

    def once(self, name: str, make: Callable[[], Shape]) -> Shape:
        """Return what was made under this name before, or make it."""
        if name not in self._made:
            self._made[name] = make()
        made: Shape = self._made[name]
        return made

    def _ends(self) -> dict[str, ToolEnd]:
        """Return how each call of the tool ended. Its only call has no label."""
        if isinstance(self.found, dict) and "exit_code" in self.found:
            return {"": self.shaped(ToolEnd)}
        return self.shaped(dict[str, ToolEnd])


@cache
def _adapter(shape: Any) -> TypeAdapter[Any]:
    return TypeAdapter(shape)


Reader = Callable[[Section], Found]


def highest(values: Mapping[str, float | None], what: str) -> Found:
    """Return the highest value and where it is. Raises NotMeasured where one does not tell."""
    known = _known(values, what)
    place = max(known, key=lambda name: known[name])
    return known[place], place


def lowest(values: Mapping[str, float | None], what: str) -> Found:
    known = _known(values, what)
    place = min(known, key=lambda name: known[name])
    return known[place], place


def listed(bad: list[str]) -> Found:
    """Count what is bad, and name it."""
    return len(bad), "; ".join(bad)


def told(words: Iterable[str]) -> Found:
    """Count what differs, and tell all of it in an order that two nodes share.

    A long list begins with its digest: what is cut could hide a difference.
    """
    known = sorted(words)
    text = "; ".join(known)
    if len(text.encode()) > LONGEST_TOLD:
        text = f"sha256 {sha256(text.encode()).hexdigest()[:16]}: {text}"
    return len(known), text


def growth(before: Mapping[str, int | None], after: Mapping[str, int | None], what: str) -> Found:
    """Return the largest growth and where. Raises NotMeasured where a counter was lost."""
    if set(before) != set(after):
        places = ", ".join(sorted(set(before) ^ set(after)))
        raise NotMeasured(f"{places} was there at one end of the run only")
    then = _known(before, what)
    grown = {place: now - then[place] for place, now in _known(after, what).items()}
    if back := [place for place, more in grown.items() if more < 0]:
        raise NotMeasured(f"{what} of {', '.join(back)} went backwards while it was watched")
    return highest(dict(grown), what)


def _known(values: Mapping[str, float | None], what: str) -> dict[str, float]:
    silent = [place for place, value in values.items() if value is None]
    if silent:
        raise NotMeasured(f"{', '.join(silent)} does not tell its {what}")
    if not values:
        raise NotMeasured(f"nothing tells its {what}")
    return {place: value for place, value in values.items() if value is not None}
