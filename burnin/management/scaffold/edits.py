"""One line more in the lists that every test stands in. Pure: text in, text out."""

from __future__ import annotations

import ast
from collections.abc import Iterable

import yaml

from burnin.management.scaffold.names import ScaffoldRefused


def add_to_class(text: str, class_name: str, line: str) -> str:
    """Return the source with one more assignment at the end of a class's own."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.ClassDef) and node.name == class_name:
            return _after_line(text, node.body[-1].end_lineno, line)
    raise _lost(f"a class {class_name}")


def add_to_collection(text: str, name: str, line: str) -> str:
    """Return the source with one more entry at the end of a tuple or dict with a closing line."""
    for node in ast.parse(text).body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(each, ast.Name) and each.id == name for each in targets):
            return _after_line(text, (node.end_lineno or 1) - 1, line)
    raise _lost(f"a collection {name}")


def add_import(text: str, module: str, name: str) -> str:
    """Return the source with one more import, in the order of the modules."""
    package = module.partition(".")[0] + "."
    imports = [
        node
        for node in ast.parse(text).body
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(package)
    ]
    before = [node.end_lineno for node in imports if (node.module or "") < module]
    if not before:
        raise _lost(f"an import from {package[:-1]}")
    return _after_line(text, before[-1], f"from {module} import {name}")


def add_to_yaml_end(text: str, block: str) -> str:
    """Return a YAML file with one more entry at the end of its last mapping."""
    return f"{text.rstrip()}\n\n{block.rstrip()}\n"


def add_stale(text: str, operations: Iterable[str], slug: str) -> str:
    """Return the file of operations with the slug under each of these."""
    for operation in operations:
        stales = _stales(text, operation)
        last = stales.value[-1]
        dashes = " " * (last.start_mark.column - 2) + "- "
        more = f", {slug}" if stales.flow_style else f"\n{dashes}{slug}"
        text = text[: last.end_mark.index] + more + text[last.end_mark.index :]
    return text


def _stales(text: str, operation: str) -> yaml.SequenceNode:
    node = yaml.compose(text, Loader=yaml.SafeLoader)
    for key in ("operations", operation, "stales"):
        pairs = node.value if isinstance(node, yaml.MappingNode) else []
        node = next((value for name, value in pairs if name.value == key), None)
    if not isinstance(node, yaml.SequenceNode) or not node.value:
        raise _lost(f"the list of what {operation} makes stale")
    return node


def _after_line(text: str, number: int | None, line: str) -> str:
    lines = text.splitlines(keepends=True)
    lines.insert(number or len(lines), line.rstrip() + "\n")
    return "".join(lines)


def _lost(what: str) -> ScaffoldRefused:
    return ScaffoldRefused(f"{what} is not where it was: add the test by hand, see CONTRIBUTING.md")
