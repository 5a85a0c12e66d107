from __future__ import annotations

import pytest

from burnin.hardware_tests.parsers.refusal import RefusalKind
from burnin.hardware_tests.parsers.training import parse
from burnin.tests.hardware_tests.parsers.shipped import refusal_of, shipped


def iteration(number: int, planned: int = 2, *, loss: str = "1.1E+01", nans: int = 0) -> str:
    return (
        f"gpu002:  iteration {number:8}/{planned:8} | consumed samples:  2048 | "
        f"elapsed time per iteration (ms): 75254.0 | lm loss: {loss} | "
        f"number of skipped iterations:   0 | number of nan iterations:   {nans} | "
        "samples per second: 27.215 | TFLOPs: 149.10 |\n"
    )


STEPS = (
    "step=10 loss=2.9000 tokens_per_sec=81000.0 tflops=410.0 mfu=41.2%\n"
    "step=20 loss=2.8731 tokens_per_sec=81234.5 tflops=412.6 mfu=41.72%\n"
)


def test_the_lines_of_megatron_are_read_whole() -> None:
    log = parse("dist_world_size=16\n" + iteration(1) + iteration(2))

    step = log.after_warm_up[0]
    assert (log.planned_steps, log.world_size, len(log.steps)) == (2, 16, 2)
    assert (step.number, step.time_s, step.samples_per_s) == (2, 75.254, 27.215)
    assert (step.tflops_per_gpu, step.loss, log.broken_steps) == (149.1, 11.0, ())


def test_the_lines_of_steps_are_read() -> None:
    step = parse(STEPS).steps[1]

    assert (step.number, step.tokens_per_s, step.tflops_per_gpu) == (20, 81234.5, 412.6)


@pytest.mark.parametrize(
    "broken", [iteration(2, loss="NAN"), iteration(2, loss="inf"), iteration(2, nans=1)]
)
def test_a_loss_that_is_no_number_is_a_finding(broken: str) -> None:
    assert [step.number for step in parse(iteration(1) + broken).broken_steps] == [2]


def test_a_nan_in_the_line_of_a_step_is_a_finding() -> None:
    assert len(parse(STEPS.replace("2.8731", "nan")).broken_steps) == 1


def test_a_collective_that_timed_out_names_whom_torchrun_blames() -> None:
    refusal = refusal_of(parse, shipped("training", "torchrun_nccl_watchdog_timeout.txt"))

    assert refusal.reason == "NCCL watchdog timeout ALLREDUCE SeqNum=1843 (rank 29, host gpu003)"


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        (iteration(1), RefusalKind.TRUNCATED, "after step 1 of 2"),
        (iteration(1) + iteration(2)[:-20], RefusalKind.TRUNCATED, "after step 1 of 2"),
        (iteration(2) + iteration(1), RefusalKind.CONTRADICTORY, "out of order"),
        (iteration(1) + iteration(1), RefusalKind.CONTRADICTORY, "out of order"),
        (iteration(1) + iteration(2, 3), RefusalKind.CONTRADICTORY, "several runs"),
        (
            (iteration(1) + iteration(2)).replace("149.10", "nan"),
            RefusalKind.MALFORMED,
            "no number",
        ),
        (
            STEPS + "Traceback (most recent call last):\nImportError: no torch\n",
            RefusalKind.CRASH,
            "ImportError: no torch",
        ),
        (
            "Traceback (most recent call last):\ntorch.OutOfMemoryError: CUDA out of memory.\n",
            RefusalKind.CRASH,
            "out of memory",
        ),
        ("hello\n", RefusalKind.NO_DATA, "no step"),
    ],
)
def test_a_run_that_did_not_reach_its_end_is_refused(
    text: str, kind: RefusalKind, words: str
) -> None:
    refusal = refusal_of(parse, text)

    assert refusal.kind is kind
    assert words in refusal.reason
