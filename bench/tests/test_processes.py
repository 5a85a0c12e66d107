import os
import signal
import subprocess
import sys
from pathlib import Path

from bench.processes import end_what_names, seconds_of_sessions

BURN = "import time; [time.process_time() for _ in iter(lambda: time.process_time() < 0.3, False)]"


def test_a_session_is_charged_for_the_children_of_its_processes() -> None:
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {BURN!r}]); input()"
    with subprocess.Popen(
        [sys.executable, "-c", f"{parent}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        assert process.stdin is not None
        while seconds_of_sessions([process.pid]) < 0.3:
            assert process.poll() is None
        process.stdin.close()

    assert seconds_of_sessions([process.pid]) == 0


def test_what_names_a_directory_in_its_environment_is_ended_and_nothing_else(
    tmp_path: Path,
) -> None:
    sleep = ["sleep", "60"]
    with (
        subprocess.Popen(sleep, env={**os.environ, "HOME_OF": f"{tmp_path}/hub/var"}) as ours,
        subprocess.Popen(sleep, env={**os.environ, "HOME_OF": f"{tmp_path}/hubble"}) as other,
    ):
        end_what_names(tmp_path / "hub")

        assert ours.wait(10) == -signal.SIGKILL
        assert other.poll() is None
        other.kill()
