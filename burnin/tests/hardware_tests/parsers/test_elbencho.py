from __future__ import annotations

import pytest

from burnin.hardware_tests.parsers import elbencho
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind
from burnin.tests.hardware_tests.parsers.shipped import refusal_of

HEADER = """
OPERATION   RESULT TYPE         FIRST DONE   LAST DONE
=========== ================    ==========   =========
"""
MAKE_DIRECTORIES = """\
MKDIRS      Elapsed time     :         9ms        12ms
            Dirs/s           :         900         800
            Dirs total       :           9          10
---
"""
WRITE = """\
WRITE       Elapsed time     :      1h2m3s    1h2m4.5s
            Files/s          :          95          93
            IOPS             :        9500        9300
            Throughput MiB/s :         950         930
            Total MiB        :         950         960
            Files total      :          95          96
---
"""


def test_every_phase_is_read_when_its_last_worker_was_done() -> None:
    report = elbencho.parse(HEADER + MAKE_DIRECTORIES + WRITE)

    made, written = report.of("MKDIRS"), report.of("WRITE")
    assert (made.elapsed_s, made.entries_per_s, made.bytes_per_s) == (0.012, 800, None)
    assert written.elapsed_s == 3724.5
    assert (written.bytes_per_s, written.operations_per_s) == (930 * 1024**2, 9300)


def test_base_10_throughput_is_another_unit() -> None:
    text = HEADER + WRITE.replace("Throughput MiB/s", "Throughput MB/s ")

    assert elbencho.parse(text).of("WRITE").bytes_per_s == 930e6


@pytest.mark.parametrize("line", ["Total MiB", "Files total", "Throughput"])
def test_a_phase_that_lacks_a_line_is_cut(line: str) -> None:
    kept = "\n".join(each for each in WRITE.splitlines() if line not in each) + "\n"

    assert refusal_of(elbencho.parse, HEADER + kept).kind is RefusalKind.TRUNCATED


def test_wrong_data_is_a_finding() -> None:
    words = "Data verification failed. Offset: 4096; Expected value: 1; Actual value: 2"

    report = elbencho.parse(HEADER + WRITE + f"ERROR: {words}\n")

    assert report.verification_errors == (words,)
    with pytest.raises(ParseError, match="elbencho did no READ"):
        report.of("READ")


def test_an_error_outweighs_a_phase_before_it() -> None:
    text = HEADER + WRITE + "ERROR: File read failed. SysErr: Input/output error\n"

    refused = refusal_of(elbencho.parse, text)

    assert refused.kind is RefusalKind.IO_ERROR
    assert refused.reason == "Input/output error; no phase result"


def test_an_option_that_elbencho_does_not_know_is_a_usage_error() -> None:
    refused = refusal_of(elbencho.parse, "ERROR: unrecognised option '--nope'\n")

    assert refused.kind is RefusalKind.USAGE
