"""A cut output is refused or tells the same, and no output makes a parser stumble."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnin.hardware_tests.parsers import (
    elbencho,
    fio_text,
    infiniband,
    ior,
    iperf2,
    iperf3,
    mdtest,
    nvidia_smi,
    nvme,
    pci,
    perftest,
    rocm_smi,
    smartctl,
)
from burnin.hardware_tests.parsers.perftest import PerftestReport
from burnin.hardware_tests.parsers.refusal import ParseError
from burnin.slurm.parse_sacct import SacctReport
from burnin.slurm.parsers import PARSERS as SLURM_PARSERS
from burnin.slurm.refusal import SlurmParseError
from burnin.tests.hardware_tests.parsers import mangling
from burnin.tests.hardware_tests.parsers.corpus.recordings import Recording, all_recordings

PARSERS: dict[str, Callable[[str], Any]] = {
    "elbencho": elbencho.parse,
    "fio": fio_text.parse_either,
    "infiniband": infiniband.parse,
    "ior": ior.parse,
    "iperf2": iperf2.parse,
    "iperf3": iperf3.parse,
    "mdtest": mdtest.parse,
    "nvidia-smi": nvidia_smi.parse,
    "nvme": nvme.parse,
    "pci": pci.parse,
    "perftest": perftest.parse,
    "rocm-smi": rocm_smi.parse,
    "smartctl": smartctl.parse,
    **SLURM_PARSERS,
}
# What is shipped lies in the whole corpus too; once is enough.
RECORDINGS = list(
    {
        (each.tool, each.path.name): each for each in all_recordings() if each.tool in PARSERS
    }.values()
)
REFUSALS = (ParseError, SlurmParseError)

# These outputs are lists without an end mark: a cut one is a shorter list, and a caller that
# counts on a device, a job or a row looks for it.
LISTS = {
    "HostLists": "expanded",
    "InfinibandReport": "adapters",
    "IorReport": "rows",
    "NvidiaSmiLinks": "gpus",
    "NvidiaSmiQuery": "gpus",
    "PciReport": "devices",
    "ShownNodes": "nodes",
    "SinfoReport": "nodes",
    "SqueueReport": "jobs",
}


def parsed(recording: Recording, text: str) -> Any:
    """Return the report, None where it is refused; any other exception is a failure."""
    try:
        return PARSERS[recording.tool](text)
    except REFUSALS as refusal:
        assert refusal.reason
        return None


@pytest.mark.parametrize("recording", RECORDINGS, ids=str)
@settings(max_examples=15)
@given(data=st.data())
def test_a_cut_output_is_refused_or_tells_the_same(recording: Recording, data: Any) -> None:
    whole = parsed(recording, recording.text)

    part = parsed(recording, data.draw(mangling.cut(recording.text)))

    assert part is None or tells_the_same(part, whole)


def tells_the_same(part: Any, whole: Any) -> bool:
    """Compare all that is in the report, or, of a list, the entries up to where it was cut."""
    if part == whole:
        return True
    if isinstance(part, PerftestReport) and isinstance(whole, PerftestReport):
        return part.bandwidth_at() == whole.bandwidth_at()  # the other end's table is missing
    if isinstance(part, SacctReport) and isinstance(whole, SacctReport):
        known = [job.job_id for job in whole.jobs]  # steps and newer records follow their job
        return [job.job_id for job in part.jobs] == known[: len(part.jobs)]
    field = LISTS.get(type(part).__name__)
    if field is None or type(part) is not type(whole):
        return False
    found, expected = list(getattr(part, field)), list(getattr(whole, field))
    # The last entry may be complete in itself and lack what is listed below it.
    return len(found) <= len(expected) and found[:-1] == expected[: len(found)][:-1]


@pytest.mark.parametrize("recording", RECORDINGS, ids=str)
@settings(max_examples=15)
@given(data=st.data())
def test_a_damaged_output_is_read_or_refused(recording: Recording, data: Any) -> None:
    text = recording.text
    parsed(recording, data.draw(mangling.damaged(text) | mangling.with_numbers_replaced(text)))


@pytest.mark.parametrize("tool", PARSERS)
@settings(max_examples=100)
@given(garbage=mangling.GARBAGE)
def test_garbage_is_read_or_refused(tool: str, garbage: str) -> None:
    try:
        PARSERS[tool](garbage)
    except REFUSALS as refusal:
        assert refusal.reason


@pytest.mark.parametrize("tool", PARSERS)
@pytest.mark.parametrize("nothing", ["", " \n\n"], ids=["empty", "blank"])
def test_nothing_is_refused_as_no_data(tool: str, nothing: str) -> None:
    with pytest.raises(REFUSALS) as refused:
        PARSERS[tool](nothing)

    assert isinstance(refused.value, REFUSALS)
    assert str(refused.value.kind) == "no_data"
