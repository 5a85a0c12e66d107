from __future__ import annotations

import pytest

from burnin.hardware_tests.parsers.gpu_fryer import parse
from burnin.hardware_tests.parsers.refusal import RefusalKind
from burnin.tests.hardware_tests.parsers.shipped import refusal_of, shipped

GOOD = shipped("gpu-fryer", "h100_8x_healthy.txt")
BAD = shipped("gpu-fryer", "h100_8x_gpu5_slow_and_throttled.txt")


def test_a_healthy_node_is_read_whole() -> None:
    report = parse(GOOD)

    first = report.gpus[0]
    assert (report.precision, len(report.gpus), report.reasons) == ("BF16", 8, ())
    assert (first.name, first.hottest_c) == ("NVIDIA H100 80GB HBM3", 66)
    assert (first.lowest_gflops, first.mean_gflops, first.highest_gflops) == (
        727200,
        731200,
        734200,
    )


def test_an_unhealthy_node_is_a_report_with_its_reasons() -> None:
    report = parse(BAD)

    assert report.gpus[5].throttle_reasons == ("HW",)
    assert [reason[:20] for reason in report.reasons] == [
        "GPU 5 - GPU is not p",
        "GPU 5 - GPU is throt",
    ]


def test_a_gpu_that_computed_nothing_has_no_numbers() -> None:
    nothing = "     0 Gflops/s (min: 18446744073.71, max: 0.00, dev: 0.00)"
    head, _, rest = GOOD.partition("GPU #3: 728500 Gflops/s")
    text = f"{head}GPU #3: {nothing}{rest.partition(')')[2]}"

    gpu = parse(text).gpus[3]

    assert (gpu.mean_gflops, gpu.lowest_gflops, gpu.hottest_c) == (None, None, None)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", RefusalKind.NO_DATA),
        ("Error: No GPUs detected\n", RefusalKind.SETUP_ERROR),
        (GOOD.partition("All GPUs")[0], RefusalKind.TRUNCATED),
        (GOOD.replace("BF16", "FP32 BF16"), RefusalKind.MALFORMED),
        (
            GOOD.replace("GPU #6:  ", "GPU #66: ").replace("GPU #6: 7", "GPU #66: 7"),
            RefusalKind.CONTRADICTORY,
        ),
        (BAD.partition("  - GPU 5")[0], RefusalKind.CONTRADICTORY),
        (GOOD.replace("GPU #7: 724900 Gflops/s", "GPU #7: NaN Gflops/s"), RefusalKind.MALFORMED),
        (GOOD.replace("GPU #7: 724900", "GPU #7 724900"), RefusalKind.CONTRADICTORY),
    ],
)
def test_what_is_no_whole_report_is_refused(text: str, kind: RefusalKind) -> None:
    assert refusal_of(parse, text).kind is kind
