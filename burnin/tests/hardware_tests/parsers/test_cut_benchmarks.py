"""A benchmark's output that is cut is refused, or tells what the whole one tells."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnin.hardware_tests.parsers.kernel_log import KernelLog
from burnin.hardware_tests.parsers.refusal import ParseError
from burnin.hardware_tests.parsers.registry import PARSERS
from burnin.tests.hardware_tests.parsers import mangling
from burnin.tests.hardware_tests.parsers.corpus.recordings import Recording, all_recordings

TOOLS = (
    "cuda-samples",
    "dcgmi-diag",
    "gpu-burn",
    "hpcc",
    "hpcg",
    "hpl",
    "kernel-log",
    "nccl-tests",
    "nvbandwidth",
    "rocm-bandwidth-test",
    "rvs",
    "stream",
    "training",
)
# What is shipped lies in the whole corpus too; once is enough.
RECORDINGS = list(
    {(each.tool, each.path.name): each for each in all_recordings() if each.tool in TOOLS}.values()
)
SHORT = 200  # line ends; of longer outputs only that many are tried


def report_or_none(tool: str, text: str) -> Any:
    """Return the report, None where it is refused; any other exception is a failure."""
    try:
        return PARSERS[tool](text)
    except ParseError as refusal:
        assert refusal.reason
        return None


def tells_the_same(part: Any, whole: Any) -> bool:
    if isinstance(part, KernelLog):  # it has no end: a cut log is a shorter log
        complete = part.records[:-1]
        return isinstance(whole, KernelLog) and complete == whole.records[: len(complete)]
    return repr(part) == repr(whole)  # NaN is what it is, in words


@pytest.mark.parametrize("recording", RECORDINGS, ids=str)
def test_an_output_that_stops_after_a_line_is_refused_or_tells_the_same(
    recording: Recording,
) -> None:
    text, tool = recording.text, recording.tool
    whole = report_or_none(tool, text)
    ends = [at + 1 for at, character in enumerate(text[:-1]) if character == "\n"]
    step = 1 + len(ends) // SHORT

    for end in [*ends[::-step]]:
        part = report_or_none(tool, text[:end])

        assert part is None or tells_the_same(part, whole), text[:end][-200:]


@pytest.mark.parametrize("recording", RECORDINGS, ids=str)
@settings(max_examples=25)
@given(data=st.data())
def test_an_output_that_stops_anywhere_is_refused_or_tells_the_same(
    recording: Recording, data: Any
) -> None:
    whole = report_or_none(recording.tool, recording.text)

    part = report_or_none(recording.tool, data.draw(mangling.cut(recording.text)))

    assert part is None or tells_the_same(part, whole)


@pytest.mark.parametrize("recording", RECORDINGS, ids=str)
@settings(max_examples=25)
@given(data=st.data())
def test_a_damaged_output_is_read_or_refused(recording: Recording, data: Any) -> None:
    text = recording.text

    report_or_none(
        recording.tool,
        data.draw(mangling.damaged(text) | mangling.with_numbers_replaced(text)),
    )


@pytest.mark.parametrize("tool", TOOLS)
@settings(max_examples=50)
@given(garbage=mangling.GARBAGE)
def test_garbage_is_read_or_refused(tool: str, garbage: str) -> None:
    report_or_none(tool, garbage)


@pytest.mark.parametrize("tool", [tool for tool in TOOLS if tool != "kernel-log"])
@pytest.mark.parametrize("nothing", ["", " \n\n"], ids=["empty", "blank"])
def test_nothing_is_refused_as_no_data(tool: str, nothing: str) -> None:
    with pytest.raises(ParseError) as refusal:
        PARSERS[tool](nothing)

    assert str(refusal.value.kind) == "no_data"
