"""What a site check asks of the client: who may drain, and that a log is no way out of work_dir."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

import pytest

from burnin.slurm.client import SlurmClient
from burnin.slurm.cluster import LoginHostFailed
from burnin.slurm.shell import Completed, LocalShell
from burnin.tests.slurm.jobs import new_token


class Saying:
    """A shell in which every command ends like this."""

    def __init__(self, exit_code: int, stderr: str, stdout: str = "") -> None:
        self._completed = Completed(exit_code, stdout.encode(), stderr.encode())

    def run(
        self, argv: Sequence[str], stdin: bytes | BinaryIO = b"", *, timeout_s: float
    ) -> Completed:
        return self._completed


@pytest.mark.parametrize(
    ("exit_code", "stderr", "may"),
    [
        (1, "slurm_update error: Invalid node name specified", True),
        (1, "slurm_update error: Invalid user id", False),  # 22.05
        (1, "slurm_update error: Access/permission denied", False),
        (0, "", False),
    ],
)
def test_who_may_drain_is_told_by_how_slurm_refuses_a_node_that_does_not_exist(
    exit_code: int, stderr: str, may: bool
) -> None:
    assert SlurmClient(Saying(exit_code, stderr), work_dir="/w").may_drain() is may


def test_a_login_host_without_python_is_told_in_words() -> None:
    shell = Saying(127, "timeout: failed to run command 'python3': No such file or directory")

    with pytest.raises(LoginHostFailed, match="python3 does not run on the login host"):
        SlurmClient(shell, work_dir="/w").login_python()


@pytest.mark.parametrize("said", ["", "noon", "nan", "1e99"])
def test_a_login_host_that_tells_no_time_is_told_in_words(said: str) -> None:
    with pytest.raises(LoginHostFailed, match="the login host says it is"):
        SlurmClient(Saying(0, "", stdout=said), work_dir="/w").login_time()


def test_the_login_host_says_what_time_it_has() -> None:
    shown = SlurmClient(Saying(0, "", stdout="1800000000.5\n"), work_dir="/w").login_time()

    assert shown.timestamp() == 1800000000.5


def test_a_link_in_place_of_a_log_is_not_followed(tmp_path: Path) -> None:
    token = new_token()
    attempt = tmp_path / "attempts" / token.directory
    attempt.mkdir(parents=True)
    (tmp_path / "key").write_text("secret")
    (attempt / "stdout.txt").symlink_to(tmp_path / "key")
    (attempt / "stderr.txt").write_text("plain")
    client = SlurmClient(LocalShell({}), work_dir=str(tmp_path))

    with pytest.raises(LoginHostFailed, match="symbolic links"):
        client.tail(token, "stdout.txt", offset=0, limit=100)

    assert client.tail(token, "stderr.txt", offset=1, limit=100) == b"lain"
