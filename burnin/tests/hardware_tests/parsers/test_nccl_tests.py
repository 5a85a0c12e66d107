from __future__ import annotations

import json
from typing import Any

import pytest

from burnin.hardware_tests.parsers.nccl_report import NcclReport, Verdict
from burnin.hardware_tests.parsers.nccl_tests import parse
from burnin.hardware_tests.parsers.refusal import RefusalKind
from burnin.tests.hardware_tests.parsers.shipped import refusal_of, shipped

CONFIG = "# nThread 1 nGpus 2 minBytes 1024 maxBytes 2048 step: 2(factor) validation: 1 graph: 0\n"
DEVICES = (
    "# Using devices\n"
    "#  Rank  0 Group  0 Pid 11 on     gpu001 device  0 [0000:18:00] NVIDIA H100 80GB HBM3\n"
    "#  Rank  1 Group  0 Pid 12 on     gpu002 device  0 [0000:18:00] NVIDIA H100 80GB HBM3\n"
)
HEADER = (
    "#       size         count      type   redop    root     time   algbw   busbw #wrong"
    "     time   algbw   busbw #wrong\n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)       \n"
)
LEFT = "        1024           256     float     sum      -1"
RIGHT = "   8.00    0.13    0.13      0    8.10    0.13    0.13      0"
ROW = f"{LEFT}{RIGHT}\n"
FOOTER = "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 0.13 \n#\n"
WARN = "gpu002:12:99 [1] transport.cc:42 NCCL WARN Call to ibv_poll_cq failed"


def output(
    rows: str = ROW, *, header: str = HEADER, footer: str = FOOTER, devices: str = DEVICES
) -> str:
    return CONFIG + devices + header + rows + footer


def test_a_plain_run_is_read_whole() -> None:
    report = parse(output())

    assert (report.rank_count, report.host_count, report.requested_max_bytes) == (2, 2, 2048)
    assert report.validation is Verdict.OK and report.average_verdict is Verdict.UNCHECKED
    row = report.largest_row
    assert (row.size_bytes, row.type, row.operation, row.root) == (1024, "float", "sum", -1)
    assert row.out_of_place and row.out_of_place.bus_bandwidth_gb_per_s == 0.13


@pytest.mark.parametrize(
    "rows",
    [
        f"{WARN}\n{ROW}",
        f"{ROW}{WARN}\n",
        f"{LEFT}{WARN}\n{RIGHT}\n",
        f"{LEFT}   8.00    0.13    0.13    N/A{WARN}\n    8.10    0.13    0.13      0\n",
        f"{LEFT}\n{WARN}\n{RIGHT}\n",
        f"{LEFT}[2026-03-02 10:00:01] {WARN}\n{RIGHT}\n",
    ],
    ids=["before", "behind", "inside", "behind-n/a", "own-line", "dated"],
)
def test_a_warning_between_or_inside_rows_takes_no_row_away(rows: str) -> None:
    report = parse(output(rows))

    assert len(report.rows) == 1
    assert report.warnings[0].endswith("ibv_poll_cq failed")


def test_what_else_breaks_a_row_is_refused() -> None:
    refusal = refusal_of(parse, output(f"{LEFT}Killed by signal 9\n{RIGHT}\n{ROW}"))

    assert refusal.kind is RefusalKind.MALFORMED


@pytest.mark.parametrize("prefix", ["[1,0]<stdout>:", "[1,0]<stdout>: ", "0: ", "  0: "])
def test_the_prefix_of_a_launcher_is_no_part_of_a_line(prefix: str) -> None:
    tagged = "".join(prefix + line for line in output().splitlines(keepends=True))

    assert parse(tagged) == parse(output())


def test_in_place_is_never_checked_in_all_to_all_and_the_rest_counts() -> None:
    unchecked_half = ROW.rstrip("0\n") + "N/A\n"

    report = parse(output(unchecked_half))

    assert report.rows[0].in_place and report.rows[0].in_place.wrong is None
    assert report.validation is Verdict.OK


def test_a_row_without_any_check_leaves_the_run_unchecked() -> None:
    unchecked = "     2048   512  float  sum  -1  8.0  0.1  0.1  N/A  8.1  0.1  0.1  N/A\n"

    assert parse(output(ROW + unchecked)).validation is Verdict.UNCHECKED


def test_times_of_iterations_and_a_timestamp_are_columns_of_their_own() -> None:
    half = "time algbw busbw #wrong i_min i_max i_p99 i_cv% "
    header = f"#  size count type redop root {half}{half} timestamp\n"
    values = "8.0 0.1 {} 0 7.9 8.2 8.2 1.0 "
    row = f"1024 256 float sum -1 {values.format(0.2)}{values.format(0.3)} 2026-03-02 10:00:01\n"

    found = parse(output(row, header=header)).rows[0]

    assert found.out_of_place and found.out_of_place.bus_bandwidth_gb_per_s == 0.2
    assert found.in_place and found.in_place.bus_bandwidth_gb_per_s == 0.3


def test_an_old_row_may_leave_its_operation_blank() -> None:
    header = "# size count type redop time algbw busbw error time algbw busbw error\n"
    row = "1024 256 float 8.0 0.1 0.1 0e+00 8.1 0.1 0.1 0e+00\n"

    report = parse(output(row, header=header))

    assert report.rows[0].operation is None and not report.rows[0].counts_wrong_values


def test_the_old_error_column_is_a_deviation_and_not_a_count() -> None:
    header = "# size count type redop time algbw busbw error time algbw busbw error\n"
    row = "1024 256 float sum 8.0 0.1 0.1 4e-07* 8.1 0.1 0.1 4e-07\n"

    report = parse(output(row, header=header))

    assert report.validation is Verdict.OK and report.wrong_rows == ()


def test_the_verdict_on_a_minimal_bandwidth_is_kept() -> None:
    footer = FOOTER.replace("0.13 ", "0.13 FAILED")

    assert parse(output(footer=footer)).average_verdict is Verdict.FAILED


def test_a_sweep_that_memory_made_shorter_says_so() -> None:
    reduced = "# Reducing maxBytes to 1024 due to memory limitation\n"

    assert parse(reduced + output()).is_reduced and not parse(output()).is_reduced


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (output(footer=FOOTER.replace("0 OK", "2 OK")), RefusalKind.CONTRADICTORY),
        (output(footer=FOOTER.replace("0 OK", "0 FAILED")), RefusalKind.CONTRADICTORY),
        (output(ROW[:-2] + "7\n"), RefusalKind.CONTRADICTORY),
        (output() + output(), RefusalKind.CONTRADICTORY),
        (output(footer=FOOTER + FOOTER), RefusalKind.CONTRADICTORY),
        (output(devices=DEVICES + DEVICES), RefusalKind.CONTRADICTORY),
        (output(footer=FOOTER.replace("0.13", "nan")), RefusalKind.MALFORMED),
        (output(ROW.replace("8.00", "inf")), RefusalKind.MALFORMED),
        (output(""), RefusalKind.NO_DATA),
        (CONFIG + DEVICES, RefusalKind.TRUNCATED),
        (output(footer="# Out of bounds values : 0 OK\n"), RefusalKind.TRUNCATED),
        (output().partition("3 \n#")[0], RefusalKind.TRUNCATED),  # 0.1 of 0.13
        ("srun: error: gpu001: task 0: Exited with exit code 1\n", RefusalKind.LAUNCH_ERROR),
        ("bash: all_reduce_perf: command not found\n", RefusalKind.LAUNCH_ERROR),
        ("hello\n", RefusalKind.MALFORMED),
    ],
)
def test_what_is_no_whole_consistent_run_is_refused(text: str, kind: RefusalKind) -> None:
    assert refusal_of(parse, text).kind is kind


@pytest.mark.parametrize(
    "failure",
    [
        "gpu001: Test CUDA failure common.cu:12 'out of memory'",
        "gpu001: Test NCCL failure common.cu:303 'unhandled system error / '",
        "Test timeout (300s)",
        " .. gpu001 pid 11: Test failure common.cu:401",
    ],
)
def test_a_failure_is_refused_even_with_a_footer(failure: str) -> None:
    refusal = refusal_of(parse, output(f"{ROW}{failure}\n"))

    assert (refusal.kind, refusal.facts) == (RefusalKind.TEST_FAILURE, {"complete_rows": 1})
    assert refusal.reason in failure


def document(**changes: Any) -> str:
    found = json.loads(shipped("nccl-tests", "allreduce_v2.19_output.json"))
    return json.dumps({key: each for key, each in {**found, **changes}.items() if each != "GONE"})


def json_report(**changes: Any) -> NcclReport:
    return parse(document(**changes))


def test_a_half_that_was_not_run_is_none_in_json() -> None:
    results = json.loads(document())["results"]
    results[0].update(out_of_place=None)

    assert json_report(results=results).rows[0].out_of_place is None


def test_unchecked_values_are_null_in_json() -> None:
    results = json.loads(document())["results"]
    for half in ("out_of_place", "in_place"):
        results[0][half]["nwrong"] = None

    assert json_report(results=results).validation is Verdict.UNCHECKED


def test_the_last_error_of_nccl_is_a_warning_in_json() -> None:
    assert json_report(errors=["", "no net plugin"]).warnings == ("no net plugin",)


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"out_of_bounds": "GONE"}, RefusalKind.TRUNCATED),
        ({"results": "GONE"}, RefusalKind.TRUNCATED),
        ({"average_bus_bandwidth": {"bandwidth": "nan", "okay": "true"}}, RefusalKind.MALFORMED),
        ({"average_bus_bandwidth": {"bandwidth": 1.0, "okay": "maybe"}}, RefusalKind.MALFORMED),
        ({"out_of_bounds": {"count": 3, "okay": "true"}}, RefusalKind.CONTRADICTORY),
        ({"results": []}, RefusalKind.NO_DATA),
        ({"results": [{"size": 8}]}, RefusalKind.MALFORMED),
    ],
)
def test_json_that_is_no_whole_consistent_run_is_refused(
    changes: dict[str, Any], kind: RefusalKind
) -> None:
    assert refusal_of(parse, document(**changes)).kind is kind


@pytest.mark.parametrize(
    ("said", "version"),
    [
        ("NCCL version 2.21.5+cuda12.4\n", "2.21.5+cuda12.4"),
        ("gpu001:11:11 [0] NCCL INFO NCCL version 2.21.5+cuda12.4\n", "2.21.5+cuda12.4"),
        ("RCCL version : 2.20.5-HEAD:d380693\n", "2.20.5-HEAD:d380693"),
        ("# nccl-tests version 2.18.3 nccl-headers=23002 nccl-library=23003\n", "23003"),
        ("# rccl-tests version 2.17.9-a:4a6 rccl-headers=22707 rccl-library=22707\n", "22707"),
        ("", None),
    ],
)
def test_the_version_of_the_library_is_found_wherever_it_is_said(
    said: str, version: str | None
) -> None:
    assert parse(said + output()).library_version == version


def test_the_networks_that_nccl_took_are_named_once_each() -> None:
    took = [f"gpu001:{pid}:{pid} [0] NCCL INFO Using network" for pid in (11, 12, 13)]
    said = f"{took[0]} IB\n{took[1]} IB\n{took[2]} AWS Libfabric\n"

    assert parse(said + output()).networks == ("IB", "AWS Libfabric")
    assert parse(output()).networks == ()
