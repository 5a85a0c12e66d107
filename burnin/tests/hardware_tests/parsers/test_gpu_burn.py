from __future__ import annotations

import pytest

from burnin.hardware_tests.parsers.gpu_burn import parse
from burnin.hardware_tests.parsers.refusal import RefusalKind
from burnin.tests.hardware_tests.parsers.shipped import refusal_of, shipped

LISTED = "GPU 0: NVIDIA H100 (UUID: GPU-aa)\nGPU 1: NVIDIA H100 (UUID: GPU-bb)\n\n"


def progress(
    *, done: str = "500 (41000 Gflop/s) - 510 (42000 Gflop/s) ", errors: str = "0 - 0 "
) -> str:
    return f"\r50.0%  proc'd: {done}  errors: {errors}  temps: 66 C - -- "


def verdicts(*words: str) -> str:
    lines = "".join(f"\tGPU {index}: {word}\n" for index, word in enumerate(words))
    return (
        f"\nKilling processes with SIGTERM (soft kill)\ndone\n\nTested {len(words)} GPUs:\n{lines}"
    )


GOOD = LISTED + progress() + progress() + verdicts("OK", "OK")


def test_good_gpus_are_read_whole() -> None:
    report = parse(GOOD)

    first, second = report.gpus
    assert report.passed and (first.name, first.uuid) == ("NVIDIA H100", "GPU-aa")
    assert (first.last_gflops, first.hottest_c, first.worst_errors) == (41000, 66, 0)
    assert (second.last_gflops, second.hottest_c) == (42000, None)


def test_a_faulty_gpu_fails() -> None:
    report = parse(LISTED + progress() + verdicts("OK", "FAULTY"))

    assert [gpu.is_good for gpu in report.gpus] == [True, False]


def test_errors_that_fell_back_to_zero_are_not_forgotten() -> None:
    worst = progress(errors="0 - 7  (WARNING!) ")

    report = parse(LISTED + worst + progress() + verdicts("OK", "FAULTY"))

    assert [gpu.worst_errors for gpu in report.gpus] == [0, 7]


def test_the_note_of_a_gpu_that_is_not_the_last_is_read() -> None:
    noted = progress(errors="7  (WARNING!)- 0 ")

    report = parse(LISTED + noted + progress() + verdicts("FAULTY", "OK"))

    assert [gpu.worst_errors for gpu in report.gpus] == [7, 0]


def test_every_gpu_dead_is_a_result() -> None:
    dead = progress(done="-1 (0 Gflop/s) - -1 (0 Gflop/s) ", errors="-1  (DIED!)- -1  (DIED!)")

    report = parse(LISTED + progress() + dead + "\n\nNo clients are alive!  Aborting\n")

    assert [gpu.died for gpu in report.gpus] == [True, True]


def test_errors_deny_an_ok() -> None:
    assert not parse(LISTED + progress(errors="0 - 7  (WARNING!) ") + verdicts("OK", "OK")).passed


def test_one_dead_gpu_of_two_is_told() -> None:
    dead = progress(done="500 (41000 Gflop/s) - -1 (0 Gflop/s) ", errors="0 - -1  (DIED!) ")

    report = parse(LISTED + progress() + dead + verdicts("OK", "FAULTY"))

    assert [gpu.died for gpu in report.gpus] == [False, True]
    assert report.gpus[1].last_gflops == 42000


def test_a_dead_gpu_is_not_good_whatever_the_verdict_says() -> None:
    dead = progress(done="500 (41000 Gflop/s) - -1 (0 Gflop/s) ")

    assert not parse(LISTED + progress() + dead + verdicts("OK", "OK")).passed


def test_every_gpu_dead_under_load_is_a_finding() -> None:
    report = parse(shipped("gpu-burn", "gpu_died_no_clients_alive.txt"))

    assert (report.passed, report.gpus[0].ok, report.gpus[0].died) == (False, None, True)


def test_power_is_read_where_it_is_printed() -> None:
    with_power = progress() + "  power: 690 W - 701 W "

    assert [gpu.highest_power_w for gpu in parse(with_power + verdicts("OK", "OK")).gpus] == [
        690,
        701,
    ]


def test_one_gpu_of_a_list_is_not_given_the_name_of_another() -> None:
    alone = "\r50.0%  proc'd: 500 (41000 Gflop/s)   errors: 0   temps: 66 C \n"

    assert parse(LISTED + alone + verdicts("OK")).gpus[0].name is None


def test_a_progress_line_that_a_process_wrote_into_is_passed_over() -> None:
    broken = progress(done="500 (41000 Freed memory for dev 2\n")

    assert parse(LISTED + progress() + broken + verdicts("OK", "OK")).passed


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (LISTED + progress(), RefusalKind.TRUNCATED),
        (LISTED, RefusalKind.TRUNCATED),
        (LISTED + progress() + verdicts("OK", "OK")[:-3], RefusalKind.TRUNCATED),
        (LISTED + progress() + verdicts("OK"), RefusalKind.CONTRADICTORY),
        (GOOD + verdicts("OK", "OK"), RefusalKind.CONTRADICTORY),
        (GOOD.replace("Tested 2", "Tested 1"), RefusalKind.CONTRADICTORY),
        ('Couldn\'t init a GPU test: Error in "load module": 209\n', RefusalKind.SETUP_ERROR),
        ("No clients are alive!  Aborting\n", RefusalKind.SETUP_ERROR),
        ("hello\n", RefusalKind.MALFORMED),
    ],
)
def test_an_output_without_whole_verdicts_is_refused(text: str, kind: RefusalKind) -> None:
    assert refusal_of(parse, text).kind is kind
