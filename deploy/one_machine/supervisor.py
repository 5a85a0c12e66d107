"""One process that starts, watches and ends all others, and adopts those that lost their parent."""

import ctypes
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from deploy.cluster import lifecycle, processes
from deploy.cluster.errors import ClusterError
from deploy.cluster.layout import Cluster
from deploy.one_machine import own_slurm, remains
from deploy.one_machine.child import Child, Pauses, Program
from deploy.one_machine.remains import Start

PR_SET_CHILD_SUBREAPER = 36
SLURM = "Slurm"
GRACE_S = 2.0  # between TERM and KILL


def adopt_orphans() -> None:
    """Become the parent of whatever our children leave behind."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


class Supervisor:
    """Owns the processes of one start; `say` tells the operator, `record` is where it is kept.

    `clock` returns monotonic seconds.
    """

    def __init__(
        self,
        start: Start,
        record: Path,
        say: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._start, self._record, self._say, self._clock = start, record, say, clock
        self._started: dict[str, Child] = {}
        self._watched: list[Child] = []
        self._cluster: Cluster | None = None
        self._daemons: frozenset[int] = frozenset()
        self._slurm_started_at, self._slurm_due_at = 0.0, 0.0
        self._slurm_pauses = Pauses()
        start.save(record)

    # Starting

    def start(self, program: Program) -> Child:
        """Start a program, and from now on start it again when it ends."""
        child = self.run(program)
        self._watched.append(child)
        return child

    def run(self, program: Program) -> Child:
        """Start a program that ends by itself; the caller waits for that."""
        child = self._started[program.name] = Child(program)
        self._start_child(child)
        return child

    def start_slurm(self, cluster: Cluster) -> None:
        """Start Slurm, and from now on start again what of it ends. Raises ClusterError."""
        self._cluster = cluster
        own_slurm.start(cluster)
        self._watch_slurm(cluster)

    def _start_child(self, child: Child) -> None:
        pid = child.start(self._clock())
        children = {**self._start.children, child.program.name: remains.identity(pid)}
        self._start = replace(self._start, children=children)
        self._start.save(self._record)

    # Watching

    def look(self) -> None:
        """Start again what has ended and is due; say so. Reap what was adopted."""
        now = self._clock()
        for child in self._watched:
            if child.due_at is not None:
                if now >= child.due_at:
                    self._start_child(child)
            elif not child.is_running:
                self._tell_end(child, now)
        self._look_after_slurm(now)
        self._reap()

    def _tell_end(self, child: Child, now: float) -> None:
        code = child.process.returncode if child.process else None
        pause_s = child.note_end(now)
        ended = f"{child.program.name} ended by itself ({code})"
        self._say(f"{ended} and is started again in {pause_s:g} s; see {child.program.log}")

    def _look_after_slurm(self, now: float) -> None:
        if self._cluster is None or now < self._slurm_due_at:
            return
        if all(map(processes.is_alive, self._daemons)):
            return
        pause_s = self._slurm_pauses.after_an_end(ran_s=now - self._slurm_started_at)
        try:
            started = own_slurm.start(self._cluster)
            self._say(f"{', '.join(started) or SLURM} had ended and was started again")
        except ClusterError as error:
            self._say(f"{SLURM} could not be started again and is in {pause_s:g} s: {error}")
            self._daemons = frozenset({0})
        else:
            self._watch_slurm(self._cluster)
        self._slurm_due_at = self._clock() + pause_s

    def _watch_slurm(self, cluster: Cluster) -> None:
        self._daemons = own_slurm.daemons(cluster)
        self._slurm_started_at = self._clock()

    def _reap(self) -> None:
        """Take off the process table what we adopted and has ended."""
        own = {child.process.pid for child in self._started.values() if child.process}
        while found := _ended():
            if found in own:
                return
            os.waitpid(found, 0)

    # Ending

    def end_first(self, child: Child, *, grace_s: float, is_hurry: Callable[[], bool]) -> None:
        """End a child while all others still serve it."""
        child.ask_to_end()
        processes.wait_until(lambda: is_hurry() or not child.is_running, timeout_s=grace_s)
        child.kill()

    def end(self) -> None:
        """End everything, whatever it is doing. Nothing that holds our token is left."""
        children = list(self._started.values())
        for child in children[1:]:
            child.ask_to_end()
        self._end_slurm()
        _end(children[1:])
        _end(children[:1])  # the broker, which the others use, was started first
        remains.end_marked(self._start.token)
        self._reap()  # in a container nobody would after us
        self._record.unlink(missing_ok=True)

    def _end_slurm(self) -> None:
        if self._cluster is None:
            return
        try:
            lifecycle.down(self._cluster, patience_s=GRACE_S)
        except ClusterError as error:
            self._say(str(error))


def _end(children: Sequence[Child]) -> None:
    for child in children:
        child.ask_to_end()
    processes.wait_until(lambda: not any(c.is_running for c in children), timeout_s=GRACE_S)
    for child in children:
        child.kill()


def _ended() -> int:
    """Return the pid of a child that has ended and is not reaped; 0 if there is none."""
    try:
        found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return 0
    return found.si_pid if found is not None else 0
