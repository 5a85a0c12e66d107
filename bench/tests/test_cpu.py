import subprocess
import sys

from bench.cpu import seconds_of_sessions

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
