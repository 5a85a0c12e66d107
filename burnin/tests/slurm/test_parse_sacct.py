from __future__ import annotations

import pytest

from burnin.slurm import parse_sacct
from burnin.slurm.parse_sacct import SacctJob
from burnin.slurm.refusal import SlurmRefusalKind
from burnin.tests.slurm.refusals import refusal_of

HEADER = "JobID|JobIDRaw|State|ExitCode|DerivedExitCode|NodeList|Comment\n"


def only_job(*rows: str) -> SacctJob:
    [job] = parse_sacct.parse(HEADER + "".join(f"{row}\n" for row in rows)).jobs
    return job


def test_a_job_that_completed_with_all_its_steps_succeeded() -> None:
    job = only_job("7|7|COMPLETED|0:0|0:0|n[1-2]|", "7.batch|7.batch|COMPLETED|0:0||n1|")

    assert job.succeeded and job.nodes == ("n1", "n2")


@pytest.mark.parametrize(
    "rows",
    [
        ["7|7|TIMEOUT|0:0|0:0|n1|"],
        ["7|7|COMPLETED|1:0|0:0|n1|"],
        ["7|7|COMPLETED|0:0|3:0|n1|"],
        ["7|7|COMPLETED|0:0|0:0|n1|", "7.0|7.0|FAILED|3:0||n1|"],
        ["7.batch|7.batch|COMPLETED|0:0||n1|"],
    ],
)
def test_nothing_less_is_success(rows: list[str]) -> None:
    assert not only_job(*rows).succeeded


def test_the_newest_record_of_a_requeued_job_counts() -> None:
    job = only_job("7|7|REQUEUED|0:0|0:0|n1|", "7.0|7.0|FAILED|3:0||n1|", "7|7|RUNNING|0:0|0:0|n2|")

    assert (job.state, job.nodes, job.steps) == ("RUNNING", ("n2",), ())


def test_who_cancelled_is_told() -> None:
    job = only_job("7|7|CANCELLED by 1001|0:0|0:0|n1|")

    assert (job.state, job.cancelled_by) == ("CANCELLED", "1001")


def test_a_record_whose_field_holds_a_newline_is_put_together() -> None:
    header = HEADER.replace("|NodeList|Comment", "|Comment|NodeList")

    report = parse_sacct.parse(header + "7|7|COMPLETED|0:0|0:0|a\nb|n1\n8|8|FAILED|1:0|0:0|y|n1\n")

    assert (report.records, report.physical_lines) == (2, 4)
    assert [job.job_id for job in report.jobs] == ["7", "8"]


def test_a_newline_in_the_last_column_makes_no_other_job() -> None:
    refused = refusal_of(
        parse_sacct.parse, HEADER + "7|7|FAILED|1:0|0:0|n1|a\n8|8|COMPLETED|0:0|0:0|n1|\n9|x\n"
    )

    assert refused.kind is SlurmRefusalKind.TRUNCATED
    comment = "a\nb\n8|8|COMPLETED|0:0|0:0|n1|"
    refused = refusal_of(parse_sacct.parse, HEADER + f"7|7|FAILED|1:0|0:0|n1|{comment}\n")
    assert "names no job" in refused.reason


def test_a_field_that_holds_the_separator_is_refused() -> None:
    refused = refusal_of(parse_sacct.parse, HEADER + "7|7|COMPLETED|0:0|0:0|n1|a|b\n")

    assert refused.kind is SlurmRefusalKind.MALFORMED and "separator" in refused.reason


def test_any_separator_is_found_in_the_header() -> None:
    text = (HEADER + "7|7|FAILED|1:0|0:0|n1|a|b\n").replace("|", "|#").replace("a|#b", "a|b")

    assert parse_sacct.parse(text).jobs[0].state == "FAILED"


def test_a_last_column_that_may_be_cut_is_refused_if_it_tells_something() -> None:
    text = "JobID|JobIDRaw|State\n7|7|COMPLETED"

    assert refusal_of(parse_sacct.parse, text).kind is SlurmRefusalKind.TRUNCATED


def test_a_record_that_stops_is_refused() -> None:
    assert refusal_of(parse_sacct.parse, HEADER + "7|7|COMPL\n").kind is SlurmRefusalKind.TRUNCATED


def test_a_record_that_names_no_job_is_refused() -> None:
    refused = refusal_of(parse_sacct.parse, HEADER + "||COMPLETED|0:0|0:0|n1|\n")

    assert refused.reason == "a record of sacct names no job: ''"


@pytest.mark.parametrize("prefix", ["", "sacct: error: "])
def test_without_accounting_nothing_is_known(prefix: str) -> None:
    refused = refusal_of(parse_sacct.parse, f"{prefix}Slurm accounting storage is disabled\n")

    assert refused.kind is SlurmRefusalKind.ACCOUNTING_DISABLED
