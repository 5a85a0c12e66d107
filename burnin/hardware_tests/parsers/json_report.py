"""JSON as a tool writes it: whole, without NaN and in the expected shape, or refused.

Words may stand before, between and after the documents; each document opens at the start of a line.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NoReturn, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind

MAX_DIGITS = 40  # of 128 bits, the widest counter of a drive

Shape = TypeVar("Shape", bound=BaseModel)
MAX_NOISE = 64  # lines that open with a brace and are no document


class Edge(BaseModel):
    """What every shape of a tool's JSON obeys: no NaN, no infinity, nothing changed later."""

    model_config = ConfigDict(allow_inf_nan=False, frozen=True)


def split(text: str, *, tool: str) -> tuple[str, list[Any]]:
    """Part the text into what stands outside of JSON documents, and the documents."""
    outside, documents, position = "", [], 0
    for start in openings(text):
        if start < position:
            continue
        outside += text[position:start]
        document, position = decode(text, start, tool)
        documents.append(document)
    return outside + text[position:], documents


def only(text: str, *, tool: str) -> dict[str, Any]:
    """Return the one document there is; words around it are passed over."""
    if not text.strip():
        raise ParseError(f"empty output: {tool} wrote nothing", kind=RefusalKind.NO_DATA)
    _, documents = split(text, tool=tool)
    if not documents:
        raise ParseError(f"{tool} wrote no JSON: {last_line(text)}", kind=RefusalKind.MALFORMED)
    if len(documents) > 1:
        words = f"{len(documents)} JSON reports in one output of {tool}"
        raise ParseError(words, kind=RefusalKind.CONTRADICTORY)
    found: dict[str, Any] = documents[0]
    return found


def with_root(text: str, root: str, *, tool: str) -> dict[str, Any]:
    """Return the one document with the key `root`; what else starts with a brace is noise."""
    if not text.strip():
        raise ParseError(f"empty output: {tool} wrote nothing", kind=RefusalKind.NO_DATA)
    found, refusals = _documents(text, tool)
    rooted = [document for document in found if isinstance(document, dict) and root in document]
    if len(rooted) > 1:
        words = f"{len(rooted)} JSON reports in one output of {tool}"
        raise ParseError(words, kind=RefusalKind.CONTRADICTORY)
    if not rooted:
        words = f"{tool} wrote no JSON report with '{root}'"
        raise (refusals or [ParseError(words, kind=RefusalKind.MALFORMED)])[-1]
    return rooted[0]


def _documents(text: str, tool: str) -> tuple[list[Any], list[ParseError]]:
    """Return the documents, and why other braces at the start of a line open none."""
    found: list[Any] = []
    refusals: list[ParseError] = []
    position = 0
    for start in openings(text):
        if start < position or len(refusals) >= MAX_NOISE:
            continue
        try:
            document, position = decode(text, start, tool)
            found.append(document)
        except ParseError as refusal:
            refusals.append(refusal)
    return found, refusals


def validated(shape: type[Shape], document: Any, *, tool: str) -> Shape:
    try:
        return shape.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(step) for step in first["loc"])
        raise ParseError(
            f"{tool}'s report has no usable {place}: {first['msg']}", kind=RefusalKind.MALFORMED
        ) from None


def last_line(text: str) -> str:
    """Return the last line that says something, cut to what a sentence bears."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:200] if lines else ""


def openings(text: str) -> Iterator[int]:
    """Yield where a line starts with a brace: reports start so, and indent the rest."""
    position = 0
    for line in text.splitlines(keepends=True):
        if line.startswith("{"):
            yield position
        position += len(line)


def decode(text: str, start: int, tool: str) -> tuple[Any, int]:
    decoder = json.JSONDecoder(
        parse_constant=lambda constant: _refuse(constant, tool), parse_int=_bounded
    )
    try:
        return decoder.raw_decode(text, start)
    except json.JSONDecodeError as error:
        raise ParseError(
            f"{tool}'s JSON report is cut or damaged at line {error.lineno}: {error.msg}",
            kind=RefusalKind.TRUNCATED,
        ) from None
    except (RecursionError, ValueError):
        words = f"{tool}'s JSON report is nested too deeply, or holds a number of too many digits"
        raise ParseError(words, kind=RefusalKind.MALFORMED) from None


def _bounded(digits: str) -> int:
    """Read a whole number of a size that becomes a float without overflow."""
    if len(digits) > MAX_DIGITS:
        raise ValueError(digits[:MAX_DIGITS])
    return int(digits)


def _refuse(constant: str, tool: str) -> NoReturn:
    raise ParseError(f"{tool}'s report holds {constant}", kind=RefusalKind.MALFORMED)
