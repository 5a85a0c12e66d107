from __future__ import annotations

import pytest

from burnin.slurm import parse_sbatch
from burnin.slurm.parse_sbatch import SbatchAnswer
from burnin.slurm.refusal import SlurmRefusalKind
from burnin.tests.slurm.refusals import refusal_of

FAILED = "sbatch: error: Batch job submission failed: "


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("Submitted batch job 7\n", SbatchAnswer(7, None)),
        ("Submitted batch job 7 on cluster tiger\n", SbatchAnswer(7, "tiger")),
        ("7\n", SbatchAnswer(7, None)),
        ("7;tiger\n", SbatchAnswer(7, "tiger")),
        ("sbatch: warning: can't run 1 processes on 2 nodes\n7\n", SbatchAnswer(7, None)),
    ],
)
def test_a_job_id_is_found(words: str, answer: SbatchAnswer) -> None:
    assert parse_sbatch.parse(words) == answer


@pytest.mark.parametrize("words", ["Submitted batch job 7", "7", "7\n8\n"])
def test_an_id_that_may_be_cut_or_is_not_alone_is_refused_and_the_job_may_exist(words: str) -> None:
    assert refusal_of(parse_sbatch.parse, words).facts["may_have_been_accepted"]


@pytest.mark.parametrize(
    "words",
    ["Socket timed out on send/recv operation", "Zero Bytes were transmitted or received"],
)
def test_where_the_answer_was_lost_the_job_may_exist(words: str) -> None:
    assert refusal_of(parse_sbatch.parse, f"{FAILED}{words}\n").facts["may_have_been_accepted"]


def test_a_refusal_that_we_do_not_know_is_final_and_in_slurms_words() -> None:
    refused = refusal_of(parse_sbatch.parse, f"{FAILED}The moon is full\n")

    assert (refused.kind, refused.reason) == (SlurmRefusalKind.REFUSED, "The moon is full")
    assert refused.facts == {"retryable": False, "may_have_been_accepted": False}


@pytest.mark.parametrize("words", ["sbatch: Segmentation fault\n", FAILED + "The moon is fu"])
def test_words_that_are_no_answer_leave_the_job_in_doubt(words: str) -> None:
    assert refusal_of(parse_sbatch.parse, words).facts["may_have_been_accepted"]


def test_an_unspecified_error_alone_is_not_a_plugins() -> None:
    refused = refusal_of(parse_sbatch.parse, f"{FAILED}Unspecified error\n")

    assert refused.kind is SlurmRefusalKind.REFUSED
