"""One child process and its group: started, drained, ended. `subprocess` costs more to import."""

from __future__ import annotations

import os
import select
import signal
import time
from contextlib import suppress

from runner.endings import CannotRun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    Sink = Callable[[bytes], None]

LOOK_S = 0.25  # how late an exit is seen when a grandchild keeps the pipes open
GRACE_S = 5.0  # between TERM and KILL
DRAIN_S = 1.0  # how long output is read that is still under way after the exit
WORDS_KEPT = 300
UNKILLABLE_S = 5.0  # a process in uninterruptible sleep outlives KILL; we do not wait for it


class CommandResult:
    """How a command ended. `exit_code` is minus the signal's number if one killed it."""

    __slots__ = ("argv", "duration_s", "exit_code", "stderr_tail", "stdout_tail", "timed_out")

    def __init__(
        self,
        *,
        argv: list[str],
        exit_code: int,
        duration_s: float,
        timed_out: bool,
        stdout_tail: str = "",
        stderr_tail: str = "",
    ) -> None:
        self.argv = argv
        self.exit_code = exit_code
        self.duration_s = duration_s
        self.timed_out = timed_out
        self.stdout_tail = stdout_tail
        self.stderr_tail = stderr_tail

    @property
    def last_words(self) -> str:
        """The end of what it complained of, or said at all."""
        return (self.stderr_tail or self.stdout_tail)[-WORDS_KEPT:].strip() or "it said nothing"

    def refuse_hang(self, what: str) -> None:
        """Raise CannotRun if it had to be ended because its time was over."""
        if self.timed_out:
            raise CannotRun(f"{what} hung and was ended after {self.duration_s:.0f} s")

    def as_json(self) -> dict[str, Any]:
        names = ("argv", "exit_code", "duration_s", "timed_out")
        return {name: getattr(self, name) for name in names}


def find_executable(name: str, *, path: str, node_name: str) -> str:
    """Return the file that `name` would run, or raise CannotRun naming what is missing where."""
    directories = [""] if "/" in name else path.split(os.pathsep)
    for directory in directories:
        candidate = f"{directory}/{name}" if directory else name
        if os.access(candidate, os.X_OK) and not _is_directory(candidate):
            return candidate
    where = f"not found in PATH={path}" if "/" not in name else "no such executable file"
    raise CannotRun(f"{name} is not installed on node {node_name}: {where}")


def _is_directory(candidate: str) -> bool:
    return os.stat(candidate).st_mode & 0o170000 == 0o040000  # noqa: PTH116


class Command:
    """A running process group. Its owner calls `end` whatever happens; then nothing is left.

    `stdout` and `stderr` are called with every piece of output, in the thread that pumps.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        executable: str,
        env: Mapping[str, str],
        stdout: Sink,
        stderr: Sink,
        cwd: str | None = None,
    ) -> None:
        self.exit_code: int | None = None
        self._nap_s = 0.001
        self._sinks: dict[int, Sink] = {}
        self._poller = select.poll()
        out, err = self._open_pipe(stdout), self._open_pipe(stderr)
        try:
            self.pid = _spawn(argv, executable, env, cwd, (out, err))
        except OSError as error:
            self._close_pipes()
            raise CannotRun(f"{executable} could not be started: {error.strerror}") from error
        finally:
            os.close(out)
            os.close(err)

    def pump(self, until: float | None) -> bool:
        """Hand on output until the process exits: True, or `time.monotonic()` is `until`: False."""
        while not self._has_exited():
            left_s = LOOK_S if until is None else until - time.monotonic()
            if left_s <= 0:
                return False
            self._read(min(LOOK_S, left_s))
        return True

    def kill(self, number: int) -> None:
        """Signal the whole group. The leader is not reaped yet, so the id is still ours."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    def end(self) -> int:
        """End what still runs of the group, TERM first, and return the leader's exit code."""
        if self.exit_code is None:
            if not self._has_exited():
                self.kill(signal.SIGTERM)
                self.pump(time.monotonic() + GRACE_S)
            self.kill(signal.SIGKILL)
            self.exit_code = self._reap()
            self._close_pipes()
        return self.exit_code

    def _reap(self) -> int:
        if not self.pump(time.monotonic() + UNKILLABLE_S):
            return -signal.SIGKILL
        until = time.monotonic() + DRAIN_S
        while self._sinks and time.monotonic() < until:
            self._read(0.05)
        status = os.waitpid(self.pid, 0)[1]
        return -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)

    def _has_exited(self) -> bool:
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def _open_pipe(self, sink: Sink) -> int:
        """Read one end ourselves; return the end that the child writes to."""
        ours, theirs = os.pipe()
        os.set_blocking(ours, False)
        self._sinks[ours] = sink
        self._poller.register(ours, select.POLLIN)
        return theirs

    def _read(self, timeout_s: float) -> None:
        if not self._sinks:
            time.sleep(min(self._nap_s, timeout_s))
            self._nap_s = min(self._nap_s * 2, LOOK_S)
            return
        for pipe, _event in self._poller.poll(int(timeout_s * 1000) + 1):
            try:
                data = os.read(pipe, 1 << 16)
            except BlockingIOError:
                continue
            if data:
                self._sinks[pipe](data)
            else:
                self._close_pipe(pipe)

    def _close_pipe(self, pipe: int) -> None:
        self._poller.unregister(pipe)
        del self._sinks[pipe]
        os.close(pipe)

    def _close_pipes(self) -> None:
        for pipe in list(self._sinks):
            self._close_pipe(pipe)


def _spawn(
    argv: Sequence[str],
    executable: str,
    env: Mapping[str, str],
    cwd: str | None,
    outputs: tuple[int, int],
) -> int:
    home = os.open(".", os.O_RDONLY) if cwd else None
    try:
        if cwd:
            os.chdir(cwd)
        return os.posix_spawn(
            executable,
            list(argv),
            dict(env),
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_DUP2, outputs[0], 1),
                (os.POSIX_SPAWN_DUP2, outputs[1], 2),
            ],
            setpgroup=0,
            setsigmask=[],  # ours are blocked while we start it
            setsigdef=[signal.SIGPIPE],  # Python ignores it, and exec would pass that on
        )
    finally:
        if home is not None:
            os.chdir(home)
            os.close(home)
