from __future__ import annotations

import json
from typing import Any

import pytest

from burnin.hardware_tests.parsers import iperf3
from burnin.hardware_tests.parsers.refusal import RefusalKind
from burnin.tests.hardware_tests.parsers.shipped import refusal_of, shipped

SINGLE = shipped("iperf3", "tcp_single.json")
TEXT = shipped("iperf3", "tcp_text_gbits.txt")


def altered(**ends: Any) -> str:
    """Return the report with entries of its end replaced; None takes one away."""
    report = json.loads(SINGLE)
    report["end"].update(ends)
    report["end"] = {key: value for key, value in report["end"].items() if value is not None}
    return json.dumps(report)


def test_what_arrived_is_not_what_was_sent() -> None:
    report = iperf3.parse(SINGLE)

    assert report.complete and report.sent is not None and report.received is not None
    assert report.sent.moved_bytes > report.received.moved_bytes
    assert (report.sent.retransmits, report.received.retransmits) == (45, None)


def test_what_the_other_end_of_a_broken_run_counted_is_unknown_not_zero() -> None:
    report = iperf3.parse(shipped("iperf3", "interrupted_client.json"))

    assert not report.complete
    assert report.received is None and report.sent is not None


def test_udp_has_jitter_and_loss() -> None:
    total = {
        "seconds": 10, "bytes": 1_250_000_000, "bits_per_second": 1e9,
        "jitter_ms": 0.02, "lost_packets": 7, "packets": 100,
    }  # fmt: skip

    received = iperf3.parse(altered(sum_sent=None, sum_received=None, sum=total)).received

    assert received is not None
    assert (received.jitter_s, received.lost_packets, received.packets) == (2e-5, 7, 100)


def test_both_directions_are_kept_apart() -> None:
    backward = {"seconds": 1, "bytes": 125, "bits_per_second": 1000}

    report = iperf3.parse(altered(sum_received_bidir_reverse=backward, streams=[{}, {}]))

    assert report.backward_received is not None
    assert report.backward_received.bits_per_s == 1000


def test_a_rate_in_another_unit_than_its_bytes_is_refused() -> None:
    slip = {"seconds": 1, "bytes": 1_000_000, "bits_per_second": 1_000_000}

    refused = refusal_of(iperf3.parse, altered(sum_received=slip))

    assert refused.kind is RefusalKind.CONTRADICTORY
    assert "1000000 bytes in 1.0 s" in refused.reason


def test_a_stream_that_is_missing_is_noticed() -> None:
    refused = refusal_of(iperf3.parse, altered(streams=[{}, {}, {}]))

    assert refused.reason == "iperf3 was asked for 1 streams and reports 3"


def test_a_report_without_sums_and_without_error_is_no_data() -> None:
    assert refusal_of(iperf3.parse, altered(sum_sent=None, sum_received=None)).kind == "no_data"


def test_a_negative_rate_is_refused() -> None:
    negative = {"seconds": 1, "bytes": 0, "bits_per_second": -1}

    assert "bits_per_second" in refusal_of(iperf3.parse, altered(sum_received=negative)).reason


def test_a_giant_count_is_refused() -> None:
    refused = refusal_of(iperf3.parse, SINGLE.replace("10843455488", "1" + "0" * 400))

    assert refused.kind is RefusalKind.MALFORMED and "too many digits" in refused.reason


def test_the_text_of_several_streams_gives_their_sum() -> None:
    text = TEXT.replace("[  5] local", "[  7] local 127.0.0.1 port 1\n[  5] local", 1)
    both = text.replace(
        "\niperf Done.",
        "[SUM]   0.00-2.00   sec  15.5 GBytes  66.8 Gbits/sec   40             sender\n"
        "[SUM]   0.00-2.00   sec  15.5 GBytes  66.6 Gbits/sec                  receiver\n"
        "\niperf Done.",
    )

    report = iperf3.parse(both)

    assert report.streams == 2 and report.received is not None
    assert report.received.bits_per_s == pytest.approx(66.6e9)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("iperf3: error - unable to connect: Refused\n", "unable to connect: Refused"),
        ("iperf3: interrupt - the client has terminated\n", "interrupt - the client has"),
    ],
)
def test_an_error_in_the_text_is_refused_in_iperfs_words(words: str, reason: str) -> None:
    refused = refusal_of(iperf3.parse, TEXT.replace("iperf Done.\n", words))

    assert refused.kind is RefusalKind.ERROR and reason in refused.reason
