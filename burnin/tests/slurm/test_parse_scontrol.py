from __future__ import annotations

from pathlib import Path

import pytest

from burnin.slurm import parse_scontrol
from burnin.slurm.refusal import SlurmRefusalKind
from burnin.tests.slurm.refusals import refusal_of

FIXTURES = Path(__file__).parents[3] / "fixtures" / "slurm"
JOB = (FIXTURES / "scontrol_job_node_fail.txt").read_text()
NODES = (FIXTURES / "scontrol_o_show_nodes.txt").read_text()


def test_a_job_that_failed_with_exit_code_zero_did_not_succeed() -> None:
    job = parse_scontrol.job(JOB)

    assert (job.exit_code, job.succeeded) == ("0:0", False)


def test_a_job_name_cannot_pass_for_a_state() -> None:
    job = parse_scontrol.job(JOB.replace("JobName=norq", "JobName=x JobState=COMPLETED"))

    assert (job.name, job.state) == ("x JobState=COMPLETED", "NODE_FAIL")


@pytest.mark.parametrize("field", ["JobState", "ExitCode", "NodeList", "Restarts"])
def test_a_job_that_lacks_a_field_is_cut(field: str) -> None:
    refused = refusal_of(parse_scontrol.job, JOB.replace(f" {field}=", f" Other{field}="))

    assert refused.kind is SlurmRefusalKind.TRUNCATED
    assert refused.reason == f"scontrol's job 30 has no {field}"


def test_two_jobs_are_not_one() -> None:
    assert refusal_of(parse_scontrol.job, JOB + JOB).kind is SlurmRefusalKind.MALFORMED


def test_an_unknown_job_is_not_an_answer() -> None:
    refused = refusal_of(parse_scontrol.job, "slurm_load_jobs error: Invalid job id specified\n")

    assert refused.kind is SlurmRefusalKind.UNKNOWN_JOB


def test_a_reason_is_told_without_who_gave_it() -> None:
    assert parse_scontrol.nodes(NODES).reasons["gpu007"] == "burn-in: GPU 3 Xid 79"


def test_a_line_that_is_no_node_is_refused() -> None:
    refused = refusal_of(parse_scontrol.nodes, NODES + "and so on\n")

    assert refused.reason == "scontrol's line is no node: and so on"


def test_a_last_node_that_is_cut_is_refused() -> None:
    assert refusal_of(parse_scontrol.nodes, NODES[:-5]).kind is SlurmRefusalKind.TRUNCATED
