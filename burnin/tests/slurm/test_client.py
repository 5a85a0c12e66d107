"""The client over a shell that says what a test wants: what is an error, and which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import BinaryIO

import pytest

from burnin.slurm import login_host
from burnin.slurm.client import SlurmClient
from burnin.slurm.cluster import (
    AccountingUnreachable,
    Answer,
    ClusterUnreachable,
    LoginHostFailed,
    NoSlurm,
    SlurmRefused,
)
from burnin.slurm.shell import Completed
from burnin.tests.slurm.jobs import new_token, submission

OFF = b"Slurm accounting storage is disabled\n"


@dataclass
class ScriptedShell:
    """Answers each command by the first of its words that a test has an answer for."""

    answers: dict[str, Completed]
    asked: list[str] = field(default_factory=list)

    def run(
        self, argv: Sequence[str], stdin: bytes | BinaryIO = b"", *, timeout_s: float
    ) -> Completed:
        name = next(word for word in argv if word in {"id", "dd", "python3", *SLURM})
        self.asked.append(name)
        return self.answers.get(name, Completed(0, b"root\n", b""))


SLURM = {"squeue", "scontrol", "sacct", "scancel"}


def client(**answers: Completed) -> SlurmClient:
    return SlurmClient(ScriptedShell(answers), work_dir="/shared/work")


def failed(words: str, exit_code: int = 1) -> Completed:
    return Completed(exit_code, b"", words.encode())


@pytest.mark.parametrize(
    "answer",
    [
        failed("slurm_load_jobs error: Unable to contact slurm controller (connect failure)"),
        failed("slurm_load_jobs error: Socket timed out on send/recv operation"),
        failed("", 124),
        failed("", 137),
        Completed(0, b"7|m|RUNN", b""),
    ],
)
def test_a_query_that_failed_is_no_information(answer: Completed) -> None:
    with pytest.raises(ClusterUnreachable):
        client(squeue=answer).observe()


@pytest.mark.parametrize(
    "answer",
    [
        failed("env: 'squeue': No such file or directory", 127),
        failed("squeue: fatal: Could not establish a configuration source"),
    ],
)
def test_a_machine_without_slurm_says_so_and_what_to_do(answer: Completed) -> None:
    with pytest.raises(NoSlurm, match="no Slurm on this machine"):
        client(squeue=answer).observe()


def test_anything_else_is_slurms_own_no() -> None:
    with pytest.raises(SlurmRefused, match="exited 1: scancel: error: not yours") as caught:
        client(scancel=failed("scancel: error: not yours")).cancel(["7"])

    assert caught.value.exit_code == 1


def test_accounting_that_is_off_knows_no_job() -> None:
    nothing, off = Completed(0, b"No jobs in the system\n", b""), Completed(1, b"", OFF)

    assert client(scontrol=nothing, sacct=off).look_up({"7": new_token()}) == {}


@pytest.mark.parametrize(
    "words",
    [
        "sacct: error: Access/permission denied",
        "sacct: error: slurm_persist_conn_open_without_init: failed to open persistent connection",
        "sacct: error: Problem talking to the database: Connection refused",
    ],
)
def test_accounting_that_does_not_answer_is_no_information(words: str) -> None:
    nothing = Completed(0, b"No jobs in the system\n", b"")

    with pytest.raises(AccountingUnreachable):
        client(scontrol=nothing, sacct=failed(words)).look_up({"7": new_token()})


def test_a_refusal_to_show_jobs_is_not_taken_for_their_loss() -> None:
    with pytest.raises(SlurmRefused):
        client(scontrol=failed("scontrol: error: Access denied")).look_up({"7": new_token()})


def test_many_lost_jobs_cost_few_commands_and_one_question_to_accounting() -> None:
    shell = ScriptedShell({"scontrol": Completed(0, b"No jobs in the system\n", b"")})
    slurm = SlurmClient(shell, work_dir="/shared/work")

    slurm.look_up({str(job_id): new_token() for job_id in range(1000)})

    assert shell.asked.count("scontrol") == 1
    assert shell.asked.count("sacct") == 1


def test_the_same_user_is_asked_for_once() -> None:
    shell = ScriptedShell({"squeue": Completed(0, b"", b"")})
    slurm = SlurmClient(shell, work_dir="/shared/work")

    slurm.observe()
    slurm.observe()

    assert shell.asked == ["id", "squeue", "squeue"]


def test_jobs_without_an_answer_were_not_asked() -> None:
    job = submission(new_token())

    answers = client(python3=Completed(0, b"", b"")).submit([job])

    assert answers[job.token].kind is Answer.NOT_ASKED


@pytest.mark.parametrize("line", [b"hello\n", b'{"kind": "perhaps"}\n', b'{"kind": "accepted"}\n'])
def test_an_answer_that_cannot_be_read_is_an_error(line: bytes) -> None:
    with pytest.raises(LoginHostFailed, match="cannot be read"):
        client(python3=Completed(0, line, b"")).submit([submission(new_token())])


def test_a_script_that_fails_says_why() -> None:
    answer = failed("mkdir: cannot create directory: Permission denied")

    with pytest.raises(LoginHostFailed, match="Permission denied"):
        client(python3=answer).submit([submission(new_token())])


def test_a_login_host_without_python_is_named() -> None:
    answer = failed("env: 'python3': No such file or directory", 127)

    with pytest.raises(LoginHostFailed, match="python3"):
        client(python3=answer).submit([submission(new_token())])


def test_a_login_host_without_sbatch_has_no_slurm() -> None:
    with pytest.raises(NoSlurm, match="sbatch is not in PATH"):
        client(python3=failed("sbatch is not in PATH", login_host.NO_SLURM)).submit(
            [submission(new_token())]
        )


@pytest.mark.parametrize("name", ["../other/stdout.txt", "/etc/passwd"])
def test_nothing_outside_the_attempt_is_read(name: str) -> None:
    with pytest.raises(ValueError, match="not inside the attempt"):
        client().tail(new_token(), name, offset=0, limit=1)


def test_a_bundle_has_a_plain_name() -> None:
    with pytest.raises(ValueError, match="no file name"):
        client().deploy_bundle("../evil", b"")


def test_work_dir_is_absolute() -> None:
    with pytest.raises(ValueError, match="absolute"):
        SlurmClient(ScriptedShell({}), work_dir="work")
