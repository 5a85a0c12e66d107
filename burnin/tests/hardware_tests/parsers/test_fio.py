from __future__ import annotations

import json
from typing import Any

import pytest

from burnin.hardware_tests.parsers import fio
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind
from burnin.tests.hardware_tests.parsers.corpus.recordings import SHIPPED

SEQREAD = (SHIPPED / "fio" / "seqread_json.json").read_text()


def refusal_of(text: str) -> ParseError:
    with pytest.raises(ParseError) as refused:
        fio.parse(text)
    return refused.value


def altered(**changes: Any) -> str:
    """Return the report with fields of its only job changed; None takes a field away."""
    report = json.loads(SEQREAD)
    for name, value in changes.items():
        report["jobs"][0][name] = value
        if value is None:
            del report["jobs"][0][name]
    return json.dumps(report, indent=2)


def test_a_direction_that_moved_nothing_is_none_not_zero() -> None:
    job = fio.parse(SEQREAD).jobs[0]

    assert job.read is not None and job.read.bytes_per_s == 1144437866
    assert job.write is None and job.trim is None


def test_times_are_in_seconds() -> None:
    read = fio.parse(SEQREAD).jobs[0].read

    assert read is not None
    assert read.p99_s == pytest.approx(13.632e-6)
    assert read.runtime_s == pytest.approx(3.019)


def test_a_report_without_percentiles_has_no_p99() -> None:
    report = json.loads(SEQREAD)
    del report["jobs"][0]["read"]["clat_ns"]["percentile"]

    read = fio.parse(json.dumps(report)).jobs[0].read

    assert read is not None and read.p99_s is None


def test_compact_json_is_read_too() -> None:
    assert fio.parse(json.dumps(json.loads(SEQREAD))) == fio.parse(SEQREAD)


def test_of_several_reports_the_last_counts() -> None:
    later = SEQREAD.replace('"bw_bytes" : 1144437866', '"bw_bytes" : 5')

    read = fio.parse(SEQREAD + "\n" + later).jobs[0].read

    assert read is not None and read.bytes_per_s == 5


def test_a_second_report_that_is_cut_refuses_the_whole() -> None:
    refused = refusal_of(SEQREAD + "\n" + SEQREAD[:900])

    assert refused.kind is RefusalKind.TRUNCATED


@pytest.mark.parametrize("length", [1, 2, 40, 700, 3000, len(SEQREAD.rstrip()) - 1])
def test_a_report_cut_anywhere_is_refused(length: int) -> None:
    assert refusal_of(SEQREAD[:length]).kind is RefusalKind.TRUNCATED


def test_words_around_the_report_are_kept_as_notes() -> None:
    report = fio.parse("note: queue depth will be capped at 1\n" + SEQREAD + "goodbye\n")

    assert report.notes == ("note: queue depth will be capped at 1", "goodbye")


def test_nothing_but_blanks_is_no_data() -> None:
    assert refusal_of(" \n\n").kind is RefusalKind.NO_DATA


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
def test_a_number_that_is_none_is_refused(word: str) -> None:
    refused = refusal_of(SEQREAD.replace('"bw_bytes" : 1144437866', f'"bw_bytes" : {word}'))

    assert refused.kind is RefusalKind.MALFORMED and word in refused.reason


@pytest.mark.parametrize("field", ["jobname", "error", "read", "write"])
def test_a_report_that_lacks_a_field_is_refused_and_names_it(field: str) -> None:
    refused = refusal_of(altered(**{field: None}))

    assert refused.kind is RefusalKind.MALFORMED and f"jobs.0.{field}" in refused.reason


def test_a_report_without_jobs_is_refused() -> None:
    assert refusal_of('{"fio version": "fio-3.33", "jobs": []}').kind is RefusalKind.MALFORMED


def test_some_other_json_is_refused() -> None:
    assert "fio version" in refusal_of('{"hello": 1}').reason


def test_fio_2_is_refused_because_its_units_differ() -> None:
    refused = refusal_of(SEQREAD.replace("fio-3.33", "fio-2.21"))

    assert refused.kind is RefusalKind.UNSUPPORTED_VERSION


def test_the_job_error_is_kept_for_the_caller_to_judge() -> None:
    report = fio.parse(altered(error=84))

    assert report.error == 84 and report.jobs[0].error == 84


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("fio: unrecognized option '--nosuchoption=1'\nDid you mean description?", "usage"),
        ("fio: failed parsing rw=reed", "usage"),
        ("fio: /nowhere is not a directory\nfio: failed parsing directory=/nowhere", "setup_error"),
        ("fio: pid=1, err=13/file:filesetup.c, error=Permission denied", "setup_error"),
        ("Segmentation fault", "crash"),
    ],
)
def test_words_without_a_report_are_refused_in_fios_own_words(words: str, kind: str) -> None:
    refused = refusal_of(words)

    assert refused.kind == kind
    assert words.splitlines()[0] in refused.reason


@pytest.mark.parametrize("bomb", ['{"a":' + "[" * 100_000, '{"a":' + "9" * 10_000 + "}"])
def test_a_bomb_is_refused(bomb: str) -> None:
    with pytest.raises(ParseError, match="nested too deeply, or holds a number"):
        fio.parse(bomb)


def of_clients(*entries: tuple[str, str, int]) -> str:
    """Return a report of `fio --client`, made of the only job there is."""
    report = json.loads(SEQREAD)
    [job] = report.pop("jobs")
    report["client_stats"] = [
        {**job, "jobname": name, "hostname": host, "error": error} for name, host, error in entries
    ]
    return json.dumps(report)


def test_jobs_of_several_servers_name_them_and_their_sum_stands_apart() -> None:
    report = fio.parse(of_clients(("w", "n1", 0), ("w", "n2", 5), ("All clients", "n2", 0)))

    assert [(job.host, job.error) for job in report.jobs] == [("n1", 0), ("n2", 5)]
    assert report.error == 5
    assert report.all_clients is not None and report.all_clients.read is not None


def test_a_server_that_does_not_answer_is_a_connection_error() -> None:
    refused = refusal_of("fio: connect: Connection refused\nfio: failed to connect to n1:8765\n")

    assert refused.kind is RefusalKind.CONNECT_ERROR
