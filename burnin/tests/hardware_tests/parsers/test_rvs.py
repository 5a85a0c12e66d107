from __future__ import annotations

from itertools import count

import pytest

from burnin.hardware_tests.parsers.refusal import RefusalKind
from burnin.hardware_tests.parsers.rvs import parse
from burnin.tests.hardware_tests.parsers.shipped import refusal_of, shipped

GEMM = shipped("rvs", "gemm_bf16_8x_mi300x.txt")
BURN = shipped("rvs", "burn_8x_mi300x.txt")
BABEL = shipped("rvs", "babel_8x_mi300x.txt")
LEVEL_4 = shipped("rvs", "level_4_8x_mi300x.txt")


def line_with(text: str, part: str) -> str:
    return next(line for line in text.splitlines() if part in line)


def test_each_gpu_is_named_by_its_place_in_the_node() -> None:
    report = parse(GEMM)

    assert report.named(28851) == "GPU 0 (0000:05:00.0)"
    assert report.named(1590) == "GPU 7 (0000:e5:00.0)"
    assert report.named(4711) == "GPU 4711"


def test_the_best_interval_is_the_speed() -> None:
    first = parse(GEMM).products[0]

    assert first.best_gflops == max(first.intervals_gflops)
    assert (first.target_gflops, first.met, first.wrong_products, first.failure) == (
        0,
        True,
        0,
        None,
    )


def test_a_gpu_that_misses_its_target_passes_the_summary_and_not_the_report() -> None:
    ended = line_with(LEVEL_4, "Target GFLOPS: 552000 met: TRUE")

    report = parse(LEVEL_4.replace(ended, ended.replace("met: TRUE", "met: FALSE")))

    assert [each.action for each in report.products if each.met is False] == ["compute-bf16-trig"]
    assert all(action.passed for action in report.actions)


def test_a_gpu_that_broke_off_is_told_from_one_that_never_began() -> None:
    ended = line_with(GEMM, "Target GFLOPS")
    error = "[ERROR ] [ 54433.100000] [gemm-bf16] gst 28851 a HIP call failed"
    intervals = "\n".join(
        line for line in GEMM.splitlines() if "28851] GFLOPS" not in line or "Target" in line
    )

    broke_off = parse(GEMM.replace(ended, error)).products[0]
    never = parse(intervals.replace(ended, error) + "\n").products[0]

    assert (broke_off.broke_off, broke_off.failure) == (True, "a HIP call failed")
    assert (never.broke_off, never.best_gflops) == (False, None)


def test_wrong_products_are_counted_on_their_gpu_and_action() -> None:
    wrong = {each.action: each.wrong_products for each in parse(BURN).products}

    assert wrong == {"proof": 1, "burn": 0}


def test_power_is_read_with_rvs_own_verdict() -> None:
    last = line_with(BURN, "pass: TRUE")

    powers = parse(BURN.replace(last, last.replace("TRUE", "FALSE"))).powers

    assert (powers[0].passed, powers[1].passed) == (False, True)
    assert powers[0].samples_w[0] < 200 < powers[0].samples_w[1]


def test_memory_is_told_in_1e9_bytes_a_second_whatever_the_table_says() -> None:
    copies = {each.kernel: each.gb_per_s for each in parse(BABEL).streams if each.gpu_id == 1590}
    others = [each.gb_per_s for each in parse(LEVEL_4).streams if each.kernel == "Copy"]

    assert 4200 < copies["Copy"] < 4300
    assert all(4100 < each < 4250 for each in others)  # of 4005000 MiB/s at most


def test_what_babel_reads_back_otherwise_is_wrong_data() -> None:
    found = parse(BABEL.replace("GPU Id", "Validation failed on a[]. Average error 1.2\nGPU Id", 1))

    assert found.wrong_data == ("Validation failed on a[]. Average error 1.2",)


def test_a_transfer_that_was_not_measured_has_no_speed() -> None:
    line = line_with(LEVEL_4, "pcie-bandwidth [ 1/16]")
    speed = line[line.index("d2h::") : line.index("duration")]

    transfer = parse(LEVEL_4.replace(speed, "d2h::true (not measured) ", 1)).transfers[0]

    assert transfer.printed_gbps is None
    assert (transfer.source, transfer.target) == ("CPU:: 0", "GPU:: 2 - 28851 - 0000:05:00.0")


def test_memory_tests_are_counted_by_their_verdicts() -> None:
    text = LEVEL_4.replace("mem Test 7 : PASS", "mem Test 7 : FAIL", 1)

    seventh = parse(text).memory_tests[6]

    assert (seventh.number, seventh.passed, seventh.failed) == (7, 7, 1)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", RefusalKind.NO_DATA),
        ("bash: rvs: command not found\n", RefusalKind.MALFORMED),
        ("RVS-ERROR No devices matches criteria from the test configuration.\n",
         RefusalKind.SETUP_ERROR),
        (GEMM[: GEMM.index("ROCm Validation Suite")], RefusalKind.TRUNCATED),
        (GEMM[: GEMM.index("| Action Name")], RefusalKind.TRUNCATED),
        (GEMM + GEMM, RefusalKind.CONTRADICTORY),
        (GEMM.replace("Action name :gemm-bf16", "Action name :other"), RefusalKind.CONTRADICTORY),
        (GEMM.replace("| 8           ", "| 7           "), RefusalKind.CONTRADICTORY),
        (GEMM.replace("Target GFLOPS: 0", "Target GFLOPS: nan", 1), RefusalKind.MALFORMED),
        (GEMM + line_with(GEMM, "Target GFLOPS") + "\n", RefusalKind.CONTRADICTORY),
        (BURN + line_with(BURN, "pass: TRUE") + "\n", RefusalKind.CONTRADICTORY),
        (BABEL.replace("MBytes/sec", "rows/sec", 1), RefusalKind.MALFORMED),
    ],
    ids=count(),
)  # fmt: skip
def test_what_says_nothing_certain_is_refused(text: str, kind: RefusalKind) -> None:
    assert refusal_of(parse, text).kind is kind
