"""Real processes under a supervisor: started again, adopted, ended, never left."""

import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from deploy.cluster import processes
from deploy.one_machine import remains
from deploy.one_machine.child import Pauses, Program
from deploy.one_machine.place import MARK, ROOT
from deploy.one_machine.remains import Start
from deploy.one_machine.supervisor import Supervisor

IGNORES_TERM = "trap '' TERM; while :; do sleep 600; done"
# A supervisor that tells the pid of its child, and then does nothing more.
BARE = """
import os, sys, time
from pathlib import Path
from deploy.one_machine.child import Child, Program
child = Child(Program("sleep", ("sleep", "600"), dict(os.environ), Path(sys.argv[1])))
print(child.start(0.0), flush=True)
time.sleep(600)
"""


@dataclass
class Watch:
    """A supervisor whose clock stands until somebody moves it."""

    home: Path
    token: str = field(default_factory=lambda: secrets.token_hex(16))
    now: float = 0.0
    said: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        start = Start(self.token, "", 0.0, remains.identity(os.getpid()))
        self.supervisor = Supervisor(start, self.record, self.said.append, lambda: self.now)

    @property
    def record(self) -> Path:
        return self.home / "running.json"

    def program(self, script: str, name: str = "sleeper") -> Program:
        environment = {"PATH": os.defpath, MARK: self.token}
        return Program(name, ("sh", "-c", script), environment, self.home / f"{name}.log")

    def recorded(self) -> dict[str, tuple[int, int]]:
        start = remains.load(self.record)
        assert start is not None
        return dict(start.children)


@pytest.fixture
def watch(tmp_path: Path) -> Iterator[Watch]:
    made = Watch(tmp_path)
    yield made
    made.supervisor.end()


def soon(holds: Callable[[], bool]) -> bool:
    return processes.wait_until(holds, timeout_s=10)


def test_a_child_that_ends_is_started_again_after_a_pause(watch: Watch) -> None:
    child = watch.supervisor.start(watch.program("exec sleep 600"))
    assert child.process is not None
    first = child.process
    os.kill(first.pid, signal.SIGKILL)
    first.wait()

    watch.supervisor.look()
    watch.now += 0.9
    watch.supervisor.look()
    before = child.process
    watch.now += 0.2
    watch.supervisor.look()

    assert before is first
    assert child.is_running and child.process is not first
    assert watch.recorded()["sleeper"] == remains.identity(child.process.pid)
    assert watch.said == [
        f"sleeper ended by itself (-9) and is started again in 1 s; see {watch.home}/sleeper.log"
    ]


def test_pauses_grow_to_a_minute_and_a_steady_run_forgets_them() -> None:
    pauses = Pauses()

    grown = [pauses.after_an_end(ran_s=0.1) for _ in range(8)]
    after = pauses.after_an_end(ran_s=60.0)

    assert grown == [1, 2, 4, 8, 16, 32, 60, 60]
    assert after == 1


def test_the_end_takes_children_that_will_not_and_orphans_that_nobody_knows(watch: Watch) -> None:
    watch.supervisor.start(watch.program(IGNORES_TERM, "deaf"))
    orphan = f"setsid sh -c 'trap \"\" TERM HUP; sleep 600' & {IGNORES_TERM}"
    watch.supervisor.start(watch.program(orphan, "parent"))
    assert soon(lambda: len(list(remains.marked(watch.token))) >= 4)

    watch.supervisor.end()

    assert not list(remains.marked(watch.token))
    assert not watch.record.exists()


def test_what_ends_first_ends_while_the_others_run(watch: Watch) -> None:
    other = watch.supervisor.start(watch.program("exec sleep 600", "other"))
    first = watch.supervisor.start(watch.program("exec sleep 600", "first"))

    watch.supervisor.end_first(first, grace_s=5, is_hurry=lambda: False)

    assert not first.is_running
    assert other.is_running


def test_a_hurry_ends_the_waiting(watch: Watch) -> None:
    deaf = watch.supervisor.start(watch.program(IGNORES_TERM))

    watch.supervisor.end_first(deaf, grace_s=3600, is_hurry=lambda: True)

    assert not deaf.is_running


def test_children_die_with_a_supervisor_that_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", BARE, str(tmp_path / "log")]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as supervisor:
        assert supervisor.stdout is not None
        child = int(supervisor.stdout.readline())
        assert soon(lambda: Path(f"/proc/{child}/comm").read_text() == "sleep\n")

        supervisor.kill()

    assert soon(lambda: not processes.is_alive(child))
