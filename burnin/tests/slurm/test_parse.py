"""What Slurm prints, read back from recordings; each recording names its Slurm version."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from burnin.slurm import commands, parse
from burnin.slurm.cluster import JobSnapshot
from burnin.slurm.parse import UnreadableOutput
from burnin.slurm.states import outcome_of
from burnin.tests.slurm.jobs import new_token
from runner.contract.wire import AttemptToken

FIXTURES = Path(__file__).parents[3] / "fixtures" / "slurm"
TOKEN = AttemptToken("0b6f2c1e-0d4a-4f51-9a5e-2f3f4d5a6b7c", 2)  # it stands in test ids


def recording(name: str) -> str:
    return (FIXTURES / name).read_text()


def expected(name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(recording(f"{name}.meta.json"))
    found: dict[str, Any] = document["expected"]
    return found


def squeue(*lines: str) -> Mapping[AttemptToken, Sequence[JobSnapshot]]:
    return parse.squeue("".join(f"{line}\n" for line in lines), mark="m0", user="root")


def test_squeue_shows_our_job() -> None:
    jobs = squeue(f"7|m0|FAILED|768|256|n[1-2]|root|NonZeroExitCode|{TOKEN.comment}")

    assert jobs == {
        TOKEN: [
            JobSnapshot("7", "FAILED", "NonZeroExitCode", "n[1-2]", TOKEN, "3:0", "1:0", "squeue")
        ]
    }


def test_a_job_that_runs_has_no_exit_code_yet() -> None:
    [job] = squeue(f"7|m0|RUNNING|0|0|n1|root|None|{TOKEN.comment}")[TOKEN]

    assert (job.exit_code, job.derived_exit_code) == (None, None)


def test_two_jobs_of_one_token_are_both_shown() -> None:
    line = f"|m0|RUNNING|0|0|n1|root|None|{TOKEN.comment}"

    assert [job.job_id for job in squeue(f"7{line}", f"8{line}")[TOKEN]] == ["7", "8"]


@pytest.mark.parametrize(
    "foreign",
    [
        "1|m0|PENDING|0|0||eve|None|(null)",
        "1|m0|PENDING|0|0||eve|None|a|b|c",
        "1|m0|PENDING|0|0||eve|None|first line\n9|m1|RUNNING|0|0|n1|root|None|second line",
        "1|m0|PENDING|0|0||eve|None|\n\n|||",
        "1|m0|PENDING|0|0||root|None|not one of ours:1",
        "slurm_load_jobs: a warning",
    ],
)
def test_a_strangers_line_never_hides_ours(foreign: str) -> None:
    ours = f"7|m0|RUNNING|0|0|n1|root|None|{TOKEN.comment}"

    assert list(squeue(foreign, ours)) == list(squeue(ours, foreign)) == [TOKEN]


def test_a_stranger_cannot_pass_a_job_off_as_ours() -> None:
    jobs = squeue(
        f"1|m0|RUNNING|0|0|n1|eve|None|{TOKEN.comment}",
        f"2|m0|RUNNING|0|0|n1|eve|None|x\n3|forged|RUNNING|0|0|n1|root|None|{TOKEN.comment}",
    )

    assert jobs == {}


def test_a_look_that_shows_what_the_one_before_did_has_its_answer() -> None:
    line = f"7|{{}}|RUNNING|0|0|n1|root|None|{TOKEN.comment}\n"
    first, again = (
        parse.squeue(line.format(mark), mark=mark, user="root") for mark in ("m1", "m2")
    )
    moved = parse.squeue(line.format("m3").replace("n1", "n2"), mark="m3", user="root")

    assert again is first
    assert (first[TOKEN][0].node_list, moved[TOKEN][0].node_list) == ("n1", "n2")


def test_the_mark_of_another_look_and_what_stands_for_marks_make_no_record() -> None:
    forged = f"|RUNNING|0|0|n1|root|None|{TOKEN.comment}"

    assert squeue(f"7|m1{forged}") == squeue(f"7\0{forged[1:]}") == {}


@pytest.mark.parametrize(
    "torn", ["7|m0|RUNNING|0|0|n1\n", f"7|m0|RUNNING|0|0|n1|root|None|{TOKEN.comment}"]
)
def test_torn_output_is_no_information(torn: str) -> None:
    with pytest.raises(UnreadableOutput):
        parse.squeue(torn, mark="m0", user="root")


def test_an_empty_queue_is_an_answer() -> None:
    assert parse.squeue("", mark="m0", user="root") == {}


@pytest.mark.parametrize(
    ("printed", "status"),
    [("0", "0:0"), ("768", "3:0"), ("9", "0:9"), ("15", "0:15"), ("3:0", "3:0"), ("", None)],
)
def test_exit_codes_are_read_as_number_and_as_pair(printed: str, status: str | None) -> None:
    assert parse.exit_status(printed) == status


@pytest.mark.parametrize("name", ["completing", "node_fail", "requeued"])
def test_scontrol_shows_a_job(name: str) -> None:
    shown, wanted = recording(f"scontrol_job_{name}.txt"), expected(f"scontrol_job_{name}.txt")
    token, job_id = new_token(), str(wanted["job_id"])
    ours = shown.replace(f"JobName={parse.record(shown)['JobName']}", f"JobName={token.job_name}")

    job = parse.shown_jobs(_one_line(ours), {job_id: token}, user="root")[job_id]

    assert (job.job_id, job.state) == (job_id, wanted["state"])
    assert job.exit_code in (wanted.get("exit_code"), None)


def _one_line(shown: str) -> str:
    """As `scontrol -o` prints a job."""
    return " ".join(shown.split()) + "\n"


def test_a_job_with_a_reused_id_is_not_ours() -> None:
    shown = _one_line(recording("scontrol_job_node_fail.txt"))

    assert parse.shown_jobs(shown, {"30": TOKEN}, user="root") == {}


def test_a_job_of_another_user_or_one_that_a_comment_forged_is_not_ours() -> None:
    ours = f"JobId=7 JobName={TOKEN.job_name} UserId=root(0) JobState=RUNNING\n"

    assert parse.shown_jobs(ours, {"7": TOKEN}, user="root")["7"].state == "RUNNING"
    assert parse.shown_jobs(ours, {"7": TOKEN}, user="ada") == {}
    assert parse.shown_jobs(ours + ours, {"7": TOKEN}, user="root") == {}


def test_sacct_is_read_past_its_steps_and_decorations() -> None:
    recorded = expected("sacct_P_many_states.txt")["jobs"]
    lines = recording("sacct_P_many_states.txt").splitlines()[1:]
    rows = [dict(zip(HEADER, line.split("|"), strict=True)) for line in lines]
    jobs = {row["JobIDRaw"]: new_token() for row in rows if "." not in row["JobIDRaw"]}
    text = "".join(as_asked_for(row, jobs.get(row["JobIDRaw"])) for row in rows)

    found = parse.sacct(text, jobs=jobs, user="root")

    by_id = {row["JobID"]: row["JobIDRaw"] for row in rows}
    assert {name: found[by_id[name]].state for name in recorded} == recorded
    assert found["4718"].derived_exit_code == "3:0"
    assert found["4720"].exit_code is None
    assert all(outcome_of(job.state).sentence for job in found.values())


HEADER = [
    "JobID",
    "JobIDRaw",
    "JobName",
    "Partition",
    "State",
    "ExitCode",
    "DerivedExitCode",
    "Elapsed",
    "NodeList",
    "Restarts",
]


def as_asked_for(row: dict[str, str], token: AttemptToken | None) -> str:
    """Bring a recorded row into the columns that we ask for."""
    name = token.job_name if token else row["JobName"]
    ours = {**row, "JobName": name, "User": "root" if token else "", "Comment": ""}
    return "|".join(ours[field] for field in commands.SACCT_FIELDS) + "\n"


def test_sacct_of_another_name_or_user_or_comment_is_another_job() -> None:
    rows = [
        f"7|{TOKEN.job_name}|eve|COMPLETED|0:0|0:0|n1|",
        "7|other|root|COMPLETED|0:0|0:0|n1|",
        f"7|{TOKEN.job_name}|root|COMPLETED|0:0|0:0|n1|{new_token().comment}",
        "7|cut off",
    ]

    assert parse.sacct("\n".join(rows) + "\n", jobs={"7": TOKEN}, user="root") == {}


def test_the_configuration_is_read() -> None:
    facts = parse.facts(recording("scontrol_config.txt"), recording("scontrol_partitions.txt"))

    assert (facts.version, facts.min_job_age_s, facts.message_timeout_s) == ("22.05.8", 300, 10)
    assert facts.has_accounting
    assert [(part.name, part.state) for part in facts.partitions] == [
        ("main", "UP"),
        ("down", "DOWN"),
    ]


def test_a_configuration_without_its_limits_is_an_error() -> None:
    config = recording("scontrol_config.txt").replace("MinJobAge", "MaxJobAge")

    with pytest.raises(UnreadableOutput, match="MinJobAge"):
        parse.facts(config, recording("scontrol_partitions.txt"))


@pytest.mark.parametrize("text", ["", "No nodes in the system\n", "NodeName=n1 CPUTot=4 State=ID"])
def test_a_list_of_nodes_that_was_cut_off_is_no_information(text: str) -> None:
    with pytest.raises(UnreadableOutput):
        parse.nodes(text)


def test_a_configuration_or_accounting_that_was_cut_off_is_no_information() -> None:
    config, partitions = recording("scontrol_config.txt"), recording("scontrol_partitions.txt")

    with pytest.raises(UnreadableOutput, match="no partitions"):
        parse.facts(config, "")
    with pytest.raises(UnreadableOutput, match="cut off"):
        parse.facts(config, partitions.rstrip("\n")[:-9])
    with pytest.raises(UnreadableOutput, match="cut off"):
        parse.sacct("7|bi|root|COMPL", jobs={"7": TOKEN}, user="root")


@pytest.mark.parametrize(
    ("state", "is_usable"),
    [
        ("IDLE", True),
        ("MIXED+PLANNED", True),
        ("IDLE-", True),
        ("IDLE+CLOUD+COMPLETING", True),
        ("IDLE*", False),
        ("IDLE*+DRAIN", False),
        ("MIXED$", False),
        ("ALLOCATED@", False),
        ("IDLE+BLOCKED", False),
        ("IDLE+A_FLAG_OF_TOMORROW", False),
    ],
)
def test_only_a_node_of_which_nothing_else_is_said_is_usable(state: str, is_usable: bool) -> None:
    nodes = parse.nodes(f"NodeName=n1 CPUTot=4 RealMemory=2000 State={state}\n")

    assert nodes["n1"].is_usable is is_usable


def test_nodes_are_read_with_their_reasons() -> None:
    nodes, wanted = (
        parse.nodes(recording("scontrol_o_show_nodes.txt")),
        expected("scontrol_o_show_nodes.txt"),
    )

    assert len(nodes) == wanted["nodes"]
    assert [name for name, node in nodes.items() if not node.is_usable] == ["gpu004", "gpu007"]
    for name, reason in wanted["reasons"].items():
        assert nodes[name].reason.startswith(reason)


def test_a_record_without_keys_is_empty() -> None:
    assert parse.record("slurm_load_jobs error") == {}


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("UNLIMITED", None), ("01:00:00", 3600), ("7-00:00:00", 604_800), ("30:00", 1800)],
)
def test_durations_are_read(text: str, seconds: int | None) -> None:
    assert parse.duration_s(text) == seconds


def test_a_garbled_duration_is_an_error() -> None:
    with pytest.raises(UnreadableOutput, match="no duration"):
        parse.duration_s("soon")


def test_what_a_real_cluster_printed_is_read() -> None:
    jobs = parse.squeue(recording("squeue_observe.txt"), mark="m0", user="root")

    states = sorted(job.state for found in jobs.values() for job in found)
    codes = {job.state: job.exit_code for found in jobs.values() for job in found}
    assert states == ["CANCELLED", "COMPLETED", "FAILED", "PENDING", "RUNNING"]
    assert codes["FAILED"] == "3:0"
    assert codes["CANCELLED"] == "0:15"
