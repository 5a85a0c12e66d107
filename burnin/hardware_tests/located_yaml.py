"""YAML whose mappings know their lines and refuse to state a key twice."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml


class BadYaml(ValueError):
    """The file cannot be read as it stands. The message begins with file and line."""


class Located(dict[str, Any]):
    """A mapping from a YAML file. `line` is where it begins, `lines` where each key stands."""

    file: str = ""
    line: int = 0
    lines: dict[str, int]

    def at(self, key: str) -> str:
        """Return `file:line` of a key, or the place alone of what is in no file."""
        line = self.lines.get(key, self.line)
        return f"{self.file}:{line}" if line else self.file


def read(path: Path) -> Located:
    """Return the file's top mapping, to be read only. Raises BadYaml."""
    return parse(text_of(path), path.name)


def text_of(path: Path) -> str:
    """Return what the file says. Raises BadYaml."""
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise BadYaml(_unreadable(path.name, error)) from None


# Limits are asked for by test and class, and parsing takes a fifth of a second.
@lru_cache(maxsize=8)
def parse(text: str, name: str) -> Located:
    """Return the top mapping of a text, to be read only. `name` is the file's. Raises BadYaml."""
    try:
        return _top(text, name)
    except RecursionError:
        raise BadYaml(f"{name}: something in it is nested too deeply, or holds itself") from None


def _top(text: str, name: str) -> Located:
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    # PyYAML lets through what chr() and int() say of an escape and of a directive.
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        raise BadYaml(_unreadable(name, error)) from None
    if not isinstance(node, yaml.MappingNode):
        raise BadYaml(f"{name}:1: must be a mapping")
    return _mapping(node, name)


def _unreadable(name: str, error: Exception) -> str:
    return f"{name}: cannot be read: {' '.join(str(error).split())}"


def located(mapping: Mapping[str, Any], *, place: str) -> Located:
    """Return a mapping that comes from `place`, which is no file, to be held to the same rules."""
    found = Located()
    found.file, found.lines = place, {}
    for key, value in mapping.items():
        found[key] = _placed(value, place)
    return found


def _placed(value: Any, place: str) -> Any:
    if isinstance(value, Mapping):
        return located(value, place=place)
    return [_placed(each, place) for each in value] if isinstance(value, list) else value


def _mapping(node: yaml.MappingNode, file: str) -> Located:
    found = Located()
    found.file, found.line, found.lines = file, node.start_mark.line + 1, {}
    for key_node, value_node in node.value:
        key, line = str(key_node.value), key_node.start_mark.line + 1
        if key in found:
            first = found.lines[key]
            raise BadYaml(f"{file}:{line}: {key!r} already stands in line {first}: keep one")
        found[key] = _value(value_node, file)
        found.lines[key] = line
    return found


def _value(node: yaml.Node, file: str) -> Any:
    if isinstance(node, yaml.MappingNode):
        return _mapping(node, file)
    if isinstance(node, yaml.SequenceNode):
        return [_value(each, file) for each in node.value]
    return _scalar(node, file)


def _scalar(node: yaml.Node, file: str) -> Any:
    try:
        value = yaml.SafeLoader("").construct_object(node, deep=True)
        repr(value)  # whoever refuses it shows it: no integer of over 4300 digits can be
    # PyYAML looks a !!bool up, asks a !!timestamp for its groups and an !!int for its first sign.
    except (yaml.YAMLError, ValueError, LookupError, AttributeError):
        where, kind = f"{file}:{node.start_mark.line + 1}", node.tag.rpartition(":")[2]
        raise BadYaml(f"{where}: {node.value!r:.40} cannot be read as {kind}") from None
    return value
