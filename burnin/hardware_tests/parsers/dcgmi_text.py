"""The table of `dcgmi diag`. Cells wrap at 45 characters, in mid-word."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from burnin.hardware_tests.parsers.dcgmi_report import (
    DiagReport,
    DiagStatus,
    DiagTest,
    DiagWarning,
    EntityResult,
    status_of,
    worst,
)
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind

_WIDTH = 45

_BORDER = re.compile(r"\+-{20,}\+-{40,}\+")
_SECTION = re.compile(r"[|+]-----  (\w+)  -+\+-+[|+]")
_ROW = re.compile(r"\|(.{27})\|(.*)\|")
_STATUS = re.compile(r"(Pass|Fail|Warn|Skip)(?: - (?:(All)|GPUs?: ([\d, ]+)))?")
_ENTITY = re.compile(r"(\D+?) ?(\d{1,4}): (Pass|Fail|Warn|Skip)")
_NOTES = {"warning": "warnings", "error": "warnings", "info": "info"}
_ERROR = re.compile(r"Error: (.+)")


@dataclass
class _Cell:
    """A labelled row with its continuations, each a piece of 45 characters at most."""

    section: str
    label: str
    pieces: list[str] = field(default_factory=list)


def parse(text: str) -> DiagReport:
    """Return the report; raise ParseError when dcgmi could not run it or its table is cut."""
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    if not any(_ROW.fullmatch(line) for line in lines):
        raise _refusal(lines)
    if not _BORDER.fullmatch(lines[_last_of_table(lines)]):
        raise ParseError("dcgmi diag's table is cut", kind=RefusalKind.TRUNCATED)
    cells = _cells(lines)
    about = [cell for cell in cells if cell.section == "Metadata"]
    metadata = {cell.label: "".join(cell.pieces).strip() for cell in about}
    devices = metadata.get("GPU Device IDs Detected", "")
    return DiagReport(
        root=None,
        version=metadata.get("DCGM Version"),
        driver_version=metadata.get("Driver Version Detected"),
        gpu_count=len(re.findall(r"\w+", devices)) or None,
        tests=_tests([cell for cell in cells if cell.section not in ("", "Metadata")]),
    )


def _refusal(lines: list[str]) -> ParseError:
    errors = [found[1] for line in lines if (found := _ERROR.match(line))]
    if errors:
        return ParseError(f"dcgmi: {' '.join(errors):.500}", kind=RefusalKind.TOOL_ERROR)
    if lines[0].startswith(("Successfully ran diagnostic", "+---")):
        return ParseError("dcgmi diag's table is cut", kind=RefusalKind.TRUNCATED)
    return ParseError(f"not a dcgmi diag output: {lines[-1]:.200}", kind=RefusalKind.MALFORMED)


def _last_of_table(lines: list[str]) -> int:
    return max(index for index, line in enumerate(lines) if line.startswith(("|", "+")))


def _cells(lines: list[str]) -> list[_Cell]:
    cells: list[_Cell] = []
    section = ""
    for line in lines:
        if heading := _SECTION.fullmatch(line):
            section = heading[1]
        elif row := _ROW.fullmatch(line):
            label, words = row[1].strip(), row[2][1:]
            if label:
                cells.append(_Cell(section, label))
            if cells and words.strip():
                cells[-1].pieces.append(words[: max(_WIDTH, len(words.rstrip()))])
        elif line.startswith("|"):
            raise ParseError(f"'{line:.60}' is no row of dcgmi's table", kind=RefusalKind.TRUNCATED)
    return cells


def _tests(cells: list[_Cell]) -> tuple[DiagTest, ...]:
    tests: list[list[_Cell]] = []
    for cell in cells:
        if _note_of(cell) is None:
            tests.append([cell])
        elif tests:
            tests[-1].append(cell)
    return tuple(_test(group) for group in tests)


def _note_of(cell: _Cell) -> str | None:
    return _NOTES.get(cell.label.partition(":")[0].lower())


def _test(cells: list[_Cell]) -> DiagTest:
    """Read one test's own row and the notes below it; rows of GPUs stand under either."""
    head = cells[0]
    statuses, entities = _results(head.label, head.pieces)
    notes: dict[str, list[str]] = {"warnings": [], "info": []}
    for cell in cells[1:]:
        words, below = _words_and_entities(cell.pieces)
        notes[_note_of(cell) or "info"].append(words)
        entities += below
    status = worst(statuses)
    if status is None:
        raise ParseError(
            f"dcgmi diag gives no result of {head.label:.60}", kind=RefusalKind.MALFORMED
        )
    return DiagTest(
        category=head.section,
        name=head.label,
        status=status,
        entities=tuple(entities),
        warnings=tuple(DiagWarning(words) for words in notes["warnings"]),
        info=tuple(notes["info"]),
    )


def _results(name: str, pieces: list[str]) -> tuple[list[DiagStatus], list[EntityResult]]:
    statuses: list[DiagStatus] = []
    entities: list[EntityResult] = []
    for line in _unwrapped(pieces):
        if found := _STATUS.fullmatch(line):
            statuses.append(status_of(found[1]))
            entities += [
                EntityResult("GPU", int(index), statuses[-1])
                for index in re.findall(r"\d{1,4}", found[3] or "")
            ]
        elif entity := _ENTITY.fullmatch(line):
            entities.append(_entity(entity))
        elif not line.startswith("Code: ("):
            raise ParseError(
                f"'{line:.60}' is no result of dcgmi's {name:.60}", kind=RefusalKind.MALFORMED
            )
    return statuses, entities


def _unwrapped(pieces: list[str]) -> list[str]:
    """Join a long list of GPUs that goes on in the next row."""
    lines: list[str] = []
    for piece in pieces:
        if lines and re.fullmatch(r"[\d, ]+", piece):
            lines[-1] += piece
        else:
            lines.append(piece)
    return [line.strip() for line in lines]


def _words_and_entities(pieces: list[str]) -> tuple[str, list[EntityResult]]:
    found = [_ENTITY.fullmatch(piece.strip()) for piece in pieces]
    words = "".join(piece for piece, entity in zip(pieces, found, strict=True) if not entity)
    return words.strip(), [_entity(entity) for entity in found if entity]


def _entity(found: re.Match[str]) -> EntityResult:
    return EntityResult(found[1], int(found[2]), status_of(found[3]))
