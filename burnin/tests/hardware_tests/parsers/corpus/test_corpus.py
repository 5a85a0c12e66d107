"""Every recorded output gives what its note expects, or is refused as its note says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from burnin.hardware_tests.parsers.refusal import ParseError
from burnin.hardware_tests.parsers.registry import parse_to_json
from burnin.management.hardware_tests.tools import TOOLS
from burnin.slurm.refusal import SlurmParseError
from burnin.tests.hardware_tests.parsers.corpus.as_expected import AS_EXPECTED
from burnin.tests.hardware_tests.parsers.corpus.comparison import differences
from burnin.tests.hardware_tests.parsers.corpus.recordings import (
    SHIPPED,
    Recording,
    all_recordings,
    files_in,
    recordings_in,
    whole_corpus,
)

SHIPPED_COUNT = 135
WHOLE_COUNT = 157
OURS_TO_COPY = {"captured", "modelled"}

RECORDINGS = all_recordings()
REFUSALS = (ParseError, SlurmParseError)


@pytest.mark.parametrize("recording", RECORDINGS, ids=str)
def test_a_recording_gives_what_its_note_expects(recording: Recording) -> None:
    if recording.expected is None:
        assert_refused(recording)
    else:
        assert_found(recording)


def assert_found(recording: Recording) -> None:
    found = AS_EXPECTED[recording.tool](TOOLS[recording.tool](recording.text))

    assert differences(found, recording.expected) == []
    assert json.loads(parse_to_json(recording.tool, recording.text, TOOLS))["tool"]


def assert_refused(recording: Recording) -> None:
    assert recording.expected_error is not None
    facts = {key: each for key, each in recording.expected_error.items() if key != "reason"}

    with pytest.raises(REFUSALS) as refusal:
        TOOLS[recording.tool](recording.text)

    assert isinstance(refusal.value, REFUSALS)
    assert differences({"kind": str(refusal.value.kind), **refusal.value.facts}, facts) == []
    assert refusal.value.reason


def test_the_shipped_recordings_are_all_there() -> None:
    shipped = recordings_in(SHIPPED, "shipped")

    assert len(shipped) == len(files_in(SHIPPED)) == SHIPPED_COUNT
    assert {each.kind for each in shipped} == OURS_TO_COPY


def test_the_whole_corpus_is_there_where_one_is_named() -> None:
    whole = whole_corpus()

    assert whole is None or missing_from(whole) == []


def test_a_named_corpus_that_is_not_there_is_not_whole(tmp_path: Path) -> None:
    assert missing_from(tmp_path / "nowhere") == ["0 files, not 157", "0 notes, not 157"]


def missing_from(root: Path) -> list[str]:
    counts = {"files": len(files_in(root)), "notes": len(recordings_in(root, "corpus"))}
    return [f"{n} {what}, not {WHOLE_COUNT}" for what, n in counts.items() if n != WHOLE_COUNT]


def test_what_is_shipped_is_what_the_whole_corpus_holds() -> None:
    whole = whole_corpus()
    changed = [
        str(path.relative_to(SHIPPED))
        for path in SHIPPED.glob("*/*")
        if whole
        and (whole / path.relative_to(SHIPPED)).exists()
        and path.read_bytes() != (whole / path.relative_to(SHIPPED)).read_bytes()
    ]

    assert changed == []


def test_every_tool_with_a_parser_has_a_mapping_to_what_notes_expect() -> None:
    assert set(AS_EXPECTED) == set(TOOLS)
