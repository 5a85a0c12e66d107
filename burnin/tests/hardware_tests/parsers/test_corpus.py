"""Every recorded output gives what its note expects, or is refused as its note says."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from burnin.hardware_tests.parsers import fio, kernel_log, stressapptest
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind
from burnin.hardware_tests.parsers.registry import parse_to_json, parser_of
from burnin.tests.hardware_tests.parsers.corpus import Recording, recordings

RECORDINGS = recordings()

# A text report holds rounded numbers in units that change from line to line: refused as such.
TEXT_REPORTS = [each for each in RECORDINGS if each.path.name == "text_readwrite.txt"]
MEASURED = [each for each in RECORDINGS if each.expected and each not in TEXT_REPORTS]
REFUSED = [each for each in RECORDINGS if each.expected_error]


def flat_fio(text: str) -> dict[str, Any]:
    """Return the report in the words of the notes."""
    report = fio.parse(text)
    return {
        "jobs": {job.name: _fio_job(job) for job in report.jobs},
        "entries": len(report.jobs),
        "groups": [job.group_id for job in report.jobs],
        "verdict": "failed" if report.error else "ok",
        "error_code": report.error,
        "effective_iodepth": 1 if "queue depth will be capped at 1" in str(report.notes) else None,
    }


def _fio_job(job: fio.FioJob) -> dict[str, Any]:
    sides = {"read": job.read, "write": job.write}
    return {"error": job.error, **{name: _fio_side(side) for name, side in sides.items() if side}}


def _fio_side(side: fio.FioTransfer) -> dict[str, Any]:
    assert side.p99_s is not None
    return {
        "bw_bytes_per_s": side.bytes_per_s,
        "bw_KiBps": side.bytes_per_s / 1024,
        "iops": side.iops,
        "io_bytes": side.io_bytes,
        "clat_p99_ns": side.p99_s * 1e9,
    }


def flat_kernel_log(text: str) -> dict[str, Any]:
    log = kernel_log.parse(text)
    return {
        "xid_lines": len(log.xids),
        "xid_counts": {str(xid): count for xid, count in log.xid_counts.items()},
        "distinct_xids": list(log.xid_counts),
        "out_of_memory_lines": log.out_of_memory_lines,
        "oom_kill_lines": log.oom_kill_lines,
        "xids": [
            {"xid": each.xid, "pci": each.pci, "pid": each.pid, "process": each.process}
            for each in log.xids
        ],
    }


FLAT: Mapping[str, Callable[[str], dict[str, Any]]] = {
    "fio": flat_fio,
    "kernel-log": flat_kernel_log,
    "stressapptest": lambda text: vars(stressapptest.parse(text)),
}


def assert_within_half_a_percent(found: Any, expected: Any) -> None:
    """Compare what is expected, wherever it stands; the parser may say more."""
    if isinstance(expected, dict):
        for key, value in expected.items():
            assert_within_half_a_percent(found[key], value)
    elif isinstance(expected, list) and expected and isinstance(expected[0], dict):
        assert [each for each in expected if each not in found] == []  # repeats are left out
    elif isinstance(expected, float | int) and not isinstance(expected, bool):
        assert found == pytest.approx(expected, rel=0.005)
    else:
        assert found == expected


def test_the_corpus_holds_recordings_of_both_kinds() -> None:
    assert len(MEASURED) >= 9 and len(REFUSED) >= 4


@pytest.mark.parametrize("recording", MEASURED, ids=str)
def test_a_recorded_report_gives_what_is_expected(recording: Recording) -> None:
    found = FLAT[recording.tool](recording.text)

    assert_within_half_a_percent(found, recording.expected)


@pytest.mark.parametrize("recording", REFUSED, ids=str)
def test_a_recording_that_is_no_measurement_is_refused_by_kind(recording: Recording) -> None:
    assert recording.expected_error is not None

    with pytest.raises(ParseError) as refusal:
        parser_of(recording.tool)(recording.text)

    assert refusal.value.kind == recording.expected_error["kind"]
    assert refusal.value.reason


@pytest.mark.parametrize("recording", TEXT_REPORTS, ids=str)
def test_a_text_report_is_refused_as_such(recording: Recording) -> None:
    with pytest.raises(ParseError) as refusal:
        parser_of(recording.tool)(recording.text)

    assert refusal.value.kind is RefusalKind.TEXT_REPORT
    assert "--output-format=json" in refusal.value.reason


@pytest.mark.parametrize("recording", MEASURED, ids=str)
def test_a_report_can_be_printed_as_json(recording: Recording) -> None:
    printed = json.loads(parse_to_json(recording.tool, recording.text))

    assert printed["tool"] == recording.tool
