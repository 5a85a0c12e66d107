from __future__ import annotations

import pytest

from burnin.hardware_tests.parsers import iperf2
from burnin.hardware_tests.parsers.refusal import RefusalKind
from burnin.tests.hardware_tests.parsers.shipped import refusal_of, shipped

ENHANCED = shipped("iperf2", "tcp_enhanced.txt")
TWO_STREAMS = """\
[  1] local 10.0.0.1 port 1 connected with 10.0.0.2 port 5001
[  2] local 10.0.0.1 port 2 connected with 10.0.0.2 port 5001
[ ID] Interval       Transfer     Bandwidth
[  1] 0.0-10.0 sec  1.00 GBytes   859 Mbits/sec
[  2] 0.0-10.0 sec  2.00 GBytes  1.72 Gbits/sec
[SUM] 0.0-10.0 sec  3.00 GBytes  2.58 Gbits/sec
"""


def test_of_several_streams_the_sum_counts() -> None:
    report = iperf2.parse(TWO_STREAMS)

    assert (report.streams, report.bits_per_s) == (2, 2.58e9)
    assert report.moved_bytes == 3 * 1024**3
    assert report.retries is None


def test_several_streams_without_their_sum_are_cut() -> None:
    cut = TWO_STREAMS[: TWO_STREAMS.index("[SUM]")]

    assert refusal_of(iperf2.parse, cut).kind is RefusalKind.TRUNCATED


def test_an_interval_is_not_taken_for_the_total() -> None:
    lines = ENHANCED.splitlines(keepends=True)

    for kept in (-2, -1):
        assert refusal_of(iperf2.parse, "".join(lines[:kept])).kind is RefusalKind.TRUNCATED


def test_the_elapsed_time_is_what_a_caller_compares_with_what_was_asked() -> None:
    assert iperf2.parse(ENHANCED).elapsed_s == pytest.approx(2.01)


def test_csv_is_in_bits_per_second() -> None:
    rows = "".join(
        f"20261129194329,10.0.0.1,1,10.0.0.2,5001,{stream},0.0-10.0,{moved},{rate}\n"
        for stream, moved, rate in ((3, 100, 80), (4, 100, 80), (-1, 200, 160))
    )

    report = iperf2.parse(rows)

    assert (report.bits_per_s, report.moved_bytes, report.streams) == (160, 200, 2)
