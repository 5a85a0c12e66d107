"""Slurm's host lists: "n[001-003,007]" to names and back, behind a size check."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet, NodeSetException

MAX_TEXT_LENGTH = 1 << 20
NOBODY = frozenset({"", "None assigned", "(null)", "None", "N/A"})
_BRACKET = re.compile(r"\[([^\[\]]*)\]")
_RANGE = re.compile(r"([0-9]{1,18})(?:-([0-9]{1,18}))?")
_AROUND_COMMA = re.compile(r" ?, ?")
_BETWEEN_NAMES = re.compile(r" (?![^\[\]]*\])")  # in brackets a space is left, and refused
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,252}")  # a host name has no more


class BadHostList(ValueError):
    """The text is no host list."""


class EmptyHostList(BadHostList):
    """The list names no node."""


class HostListTooLarge(BadHostList):
    """The list names more nodes than are allowed."""


class DuplicateNodes(BadHostList):
    """A node stands twice in the list; `names` tells which."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(f"the node list names {', '.join(names[:5])} more than once")
        self.names = tuple(names)


def expand(text: str, limit: int = 10_000) -> list[str]:
    """Return the node names in the order of the text; refuse more than `limit` of them."""
    if text.strip() in NOBODY:
        raise EmptyHostList("the node list is empty: name at least one node, like n[001-004]")
    if len(text) > MAX_TEXT_LENGTH:
        raise HostListTooLarge(f"the node list is {len(text):,} characters long")
    words = [_checked(word.strip()) for word in _split(text.strip())]
    total = sum(_size_of(word) for word in words)
    if total > limit:
        raise HostListTooLarge(f"the node list names {total:,} nodes; at most {limit:,} are taken")
    names = [name for word in words for name in _names_of(word)]
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise DuplicateNodes(repeated)
    return names


def expand_typed(text: str, limit: int = 10_000) -> list[str]:
    """Return the nodes that a person named, with commas or white space between the names.

    Nothing is joined: `n1 2` are two names, and never the node n12.
    """
    if len(text) > MAX_TEXT_LENGTH:
        raise HostListTooLarge(f"the node list is {len(text):,} characters long")
    tidy = _AROUND_COMMA.sub(",", " ".join(text.split()))
    return expand(_BETWEEN_NAMES.sub(",", tidy), limit)


def expand_allocation(text: str, limit: int = 10_000) -> list[str]:
    """Return the nodes Slurm gave to a job; none while it pends ("None assigned", "(null)")."""
    return [] if text.strip() in NOBODY else expand(text, limit)


def fold(names: Sequence[str]) -> str:
    """Return the names as one short host list; order is Slurm's, not the caller's."""
    bad = next((name for name in names if not _NAME.fullmatch(name)), None)
    if bad is not None:
        raise BadHostList(f"{bad!r} is no node name")
    return str(NodeSet.fromlist(names, resolver=RESOLVER_NOGROUP))


def _split(text: str) -> list[str]:
    """Split at the commas outside brackets."""
    words, depth, start = [], 0, 0
    for at, character in enumerate(text):
        depth += (character == "[") - (character == "]")
        if depth not in (0, 1):
            raise BadHostList(f"the brackets of the node list {_short(text)} do not match")
        if character == "," and depth == 0:
            words.append(text[start:at])
            start = at + 1
    if depth:
        raise BadHostList(f"the brackets of the node list {_short(text)} do not match")
    return [*words, text[start:]]


def _checked(word: str) -> str:
    """Refuse whatever ClusterShell would read as an operator, a group or a stepping."""
    if not _NAME.fullmatch(_BRACKET.sub("0", word)):
        raise BadHostList(f"{_short(word)} is no node name or range like n[001-004]")
    for inside in _BRACKET.findall(word):
        for part in inside.split(","):
            _range_size(part, word)
    return word


def _size_of(word: str) -> int:
    """Return how many names a word stands for, without making one of them."""
    size = 1
    for inside in _BRACKET.findall(word):
        size *= sum(_range_size(part, word) for part in inside.split(","))
    return size


def _range_size(part: str, word: str) -> int:
    match = _RANGE.fullmatch(part)
    if match is None:
        raise BadHostList(f"[{part[:40]}] in {_short(word)} is no range like [001-004]")
    first, last = int(match[1]), int(match[2] or match[1])
    if last < first:
        raise BadHostList(f"[{part}] in {_short(word)} counts backwards")
    return last - first + 1


def _names_of(word: str) -> list[str]:
    """Expand one word whose size is known; ClusterShell sorts, so each range goes alone."""
    if "[" not in word:
        return [word]
    head, inside, rest = re.split(r"\[([^\[\]]*)\]", word, maxsplit=1)
    names = []
    for part in inside.split(","):
        try:
            names.extend(NodeSet(f"{head}[{part}]", resolver=RESOLVER_NOGROUP))
        except NodeSetException as error:
            raise BadHostList(f"{_short(word)} is no host list: {error}") from error
    return [name + tail for name in names for tail in _names_of(rest)] if rest else names


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "…")
