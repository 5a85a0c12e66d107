from __future__ import annotations

import json

import pytest

from burnin.hardware_tests.parsers import perftest
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind
from burnin.tests.hardware_tests.parsers.shipped import refusal_of, shipped

LINE = "-" * 87
FAILED = shipped("perftest", "write_bw_failed_status_12.txt")


def table(header: str, *rows: str) -> str:
    return "\n".join([LINE, "  RDMA_Write BW Test", LINE, header, *rows, LINE, ""])


MIB = " #bytes     #iterations    BW peak[MiB/sec]    BW average[MiB/sec]   MsgRate[Mpps]"
GBITS = MIB.replace("MiB", "Gb")
LATENCY = (
    " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]"
    "    t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec]"
)


def test_old_and_new_header_name_the_same_unit() -> None:
    row = " 65536      1000             46567.34            46557.03\t\t     0.744912"

    new, old = perftest.parse(table(MIB, row)), perftest.parse(table(MIB.replace("Mi", "M"), row))

    assert new.bandwidth_at() == old.bandwidth_at()
    assert new.bandwidth_at().average_bytes_per_s == pytest.approx(0.744912e6 * 65536, rel=1e-5)


def test_gigabits_are_decimal() -> None:
    row = " 65536      5000             392.38             392.34 \t\t     0.748336"

    assert perftest.parse(table(GBITS, row)).bandwidth_at().average_bytes_per_s == 392.34e9 / 8


def test_a_bandwidth_that_its_message_rate_belies_is_refused() -> None:
    row = " 65536      5000             392.38             392.34 \t\t     0.748336"

    refused = refusal_of(perftest.parse, table(MIB, row))

    assert refused.kind is RefusalKind.CONTRADICTORY
    assert "0.748336 million messages of 65536 bytes a second 392.34 MiB/sec" in refused.reason


def test_a_peak_that_was_not_measured_is_none() -> None:
    row = "65536      1000             0.00               6.19               0.011814"

    assert perftest.parse(table(GBITS, row)).bandwidth_at().peak_bytes_per_s is None


def test_the_worse_of_both_ends_counts() -> None:
    rows = [f" 65536  5000  400.00  {average}  {rate}" for average, rate in
            (("392.34", "0.748336"), ("380.00", "0.724792"))]  # fmt: skip

    assert perftest.parse(table(GBITS, *rows)).bandwidth_at().average_bytes_per_s == 380e9 / 8


def test_a_latency_row_gives_its_percentiles_in_seconds() -> None:
    row = " 2       1000    1.24   5.19   1.27   \t 1.28  \t0.00  \t\t1.37  \t\t5.19"

    latency = perftest.parse(table(LATENCY, row)).latency_at()

    assert latency.average_s == pytest.approx(1.28e-6)
    assert latency.p99_s == pytest.approx(1.37e-6)
    assert latency.p999_s == pytest.approx(5.19e-6)


def test_a_latency_by_duration_has_an_average_alone() -> None:
    header = " #bytes        #iterations       t_avg[usec]    tps average"

    latency = perftest.parse(
        table(header, " 2       1000            1.28   390000.00")
    ).latency_at()

    assert latency.average_s == pytest.approx(1.28e-6)
    assert latency.typical_s is None and latency.p99_s is None


def test_a_size_that_was_not_measured_is_told() -> None:
    row = " 65536      5000             392.38             392.34 \t\t     0.748336"
    report = perftest.parse(table(GBITS, row))

    with pytest.raises(ParseError, match="no bandwidth at 8 bytes"):
        report.bandwidth_at(8)
    with pytest.raises(ParseError, match="no latency"):
        report.latency_at()


def test_a_table_that_is_not_closed_is_cut() -> None:
    row = " 65536      5000             392.38             392.34 \t\t     0.748336"
    text = table(GBITS, row)

    assert refusal_of(perftest.parse, text[: -len(LINE) - 1]).kind is RefusalKind.TRUNCATED


@pytest.mark.parametrize(
    ("status", "meaning"), [(4, "local protection"), (77, "see ibv_wc_status")]
)
def test_a_failed_completion_is_named(status: int, meaning: str) -> None:
    refused = refusal_of(perftest.parse, FAILED.replace("status 12", f"status {status}"))

    assert refused.kind is RefusalKind.RDMA_ERROR and meaning in refused.reason
    assert refused.facts["status"] == status


def test_a_failure_outweighs_a_row() -> None:
    row = " 65536      5000             392.38             392.34 \t\t     0.748336"
    text = table(GBITS, row) + " Completion with error at client\n"

    assert refusal_of(perftest.parse, text).kind is RefusalKind.RDMA_ERROR


@pytest.mark.parametrize(("average", "unit"), [(2229.27, "MiB/sec"), (18.7, "Gb/sec")])
def test_the_json_has_the_unit_in_which_it_agrees_with_itself(average: float, unit: str) -> None:
    results = {
        "MsgSize": 65536, "n_iterations": 5000, "BW_peak": 0.0, "BW_average": average,
        "MsgRate": 0.035668,
    }  # fmt: skip
    text = json.dumps({"test_info": {"test": "RDMA_Write_BW_Test"}, "results": results})

    assert perftest.parse(text).printed_unit == unit


def test_json_that_agrees_in_no_unit_is_refused() -> None:
    results = {"MsgSize": 2, "n_iterations": 5, "BW_peak": 0, "BW_average": 9e9, "MsgRate": 1}
    text = json.dumps({"test_info": {}, "results": results})

    assert "agree in no unit" in refusal_of(perftest.parse, text).reason
