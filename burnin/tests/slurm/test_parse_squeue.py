from __future__ import annotations

import json
from typing import Any

import pytest

from burnin.slurm import parse_squeue
from burnin.slurm.parse_squeue import SqueueJob
from burnin.slurm.refusal import SlurmRefusalKind
from burnin.tests.slurm.refusals import refusal_of

HEADER = "             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)\n"


def only_job(text: str) -> SqueueJob:
    [job] = parse_squeue.parse(text).jobs
    return job


def test_a_name_with_blanks_and_a_reason_with_commas_are_read() -> None:
    job = only_job(
        HEADER + "                25    burnin a b c d     root PD       0:00      2 "
        "(ReqNodeNotAvail, UnavailableNodes:n[1-2])\n"
    )

    assert (job.name, job.state, job.nodes) == ("a b c d", "PENDING", ())
    assert job.reason == "ReqNodeNotAvail, UnavailableNodes:n[1-2]"


def test_a_table_without_jobs_is_an_answer() -> None:
    assert parse_squeue.parse(HEADER).jobs == ()


def test_a_state_that_was_cut_to_its_column_is_completed() -> None:
    wide = HEADER.replace("ST  ", "STATE")

    row = "                28      main   urgent     root COMPLETI       0:08      2 n[1-2]\n"

    job = only_job(wide + row)
    assert (job.printed_state, job.state, job.nodes) == ("COMPLETI", "COMPLETING", ("n1", "n2"))


def test_a_column_that_we_do_not_know_is_refused() -> None:
    refused = refusal_of(parse_squeue.parse, HEADER.replace("NODES", "QOSES"))

    assert refused.kind is SlurmRefusalKind.MALFORMED and "unknown columns" in refused.reason


def test_a_row_that_does_not_fit_is_refused() -> None:
    refused = refusal_of(parse_squeue.parse, HEADER + "  25  burnin  x\n")

    assert "does not fit its header" in refused.reason


def test_a_job_name_that_holds_the_separator_stays_a_name() -> None:
    job = only_job("7|7|7|N/A|a|PENDING|x|RUNNING|None|n1|4\n")

    assert (job.name, job.state, job.nodes) == ("a|PENDING|x", "RUNNING", ("n1",))


def test_a_job_name_that_looks_like_an_error_is_a_name() -> None:
    job = only_job("7|7|7|N/A|slurm_load_jobs error: Invalid job id specified|RUNNING|None|n1|4\n")

    assert job.state == "RUNNING"


def test_a_task_of_an_array_has_an_id_of_its_own_that_the_table_does_not_show() -> None:
    job = only_job(HEADER + "  17_3  scav  arr  root  R  0:40  1 n1\n")

    assert (job.shown_id, job.job_id, job.array_job_id, job.array_task) == ("17_3", None, 17, "3")


def test_a_row_cut_in_two_is_refused() -> None:
    assert refusal_of(parse_squeue.parse, "7,RUNN").kind is SlurmRefusalKind.TRUNCATED


def test_a_job_that_ran_before_and_waits_now_was_requeued() -> None:
    before = parse_squeue.parse("7,RUNNING\n8,PENDING\n9,RUNNING\n")
    after = parse_squeue.parse("7,PENDING\n8,PENDING\n9,RUNNING\n")

    assert after.requeued_since(before) == ("7",)


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("slurm_load_jobs error: Invalid job id specified\n", "unknown_job"),
        (
            "slurm_load_jobs error: Unable to contact slurm controller (connect failure)\n",
            "controller_unreachable",
        ),
    ],
)
def test_an_error_is_refused_by_kind(words: str, kind: str) -> None:
    assert refusal_of(parse_squeue.parse, words).kind == kind


def set_number(number: int, *, infinite: bool = False) -> dict[str, Any]:
    return {"set": True, "infinite": infinite, "number": number}


UNSET = {"set": False, "infinite": False, "number": 0}


def in_json(**changes: Any) -> str:
    job = {
        "job_id": 7, "name": "x", "job_state": ["RUNNING"], "state_reason": "None",
        "nodes": "n[1-2]", "array_job_id": set_number(0), "array_task_id": UNSET,
        "restart_cnt": 1, "time_limit": set_number(30),
    }  # fmt: skip
    return json.dumps({"jobs": [{**job, **changes}], "errors": []})


@pytest.mark.parametrize("state", ["COMPLETED", ["COMPLETED"]])
def test_a_state_is_a_word_or_a_list(state: Any) -> None:
    job = only_job(in_json(job_state=state))

    assert (job.state, job.flags, job.has_finished) == ("COMPLETED", (), True)


@pytest.mark.parametrize("flag", ["COMPLETING", "REQUEUED"])
def test_a_state_with_a_flag_is_not_the_end(flag: str) -> None:
    assert not only_job(in_json(job_state=["COMPLETED", flag])).has_finished


@pytest.mark.parametrize(("number", "restarts"), [(3, 3), (set_number(3), 3), (UNSET, None)])
def test_a_number_is_one_or_an_object(number: Any, restarts: int | None) -> None:
    assert only_job(in_json(restart_cnt=number)).restarts == restarts


def test_a_limit_may_be_infinite() -> None:
    assert only_job(in_json(time_limit=set_number(0, infinite=True))).has_no_time_limit


def test_an_array_job_id_of_zero_is_none() -> None:
    assert only_job(in_json()).array_job_id is None


@pytest.mark.parametrize("state", [[], "", None, [3]])
def test_a_job_without_a_state_is_refused(state: Any) -> None:
    assert refusal_of(parse_squeue.parse, in_json(job_state=state)).reason == (
        "squeue's job 7 has no state"
    )


def test_json_that_reports_an_error_is_refused() -> None:
    text = json.dumps({"jobs": [], "errors": [{"error": "Slurm is down"}]})

    assert "Slurm is down" in refusal_of(parse_squeue.parse, text).reason
