"""What an executor works with: commands, files and progress of one attempt."""

from __future__ import annotations

import json
import os
import signal
import time

from runner.bounded import BoundedFile, Tail
from runner.contract.artifacts import MAX_BYTES, RESULTS_DIRECTORY, STDERR, STDOUT
from runner.endings import ENDING_SIGNALS
from runner.process import GRACE_S, Command, find_executable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from types import TracebackType
    from typing import Any

    from runner.process import Sink

CHECKPOINTS = "checkpoints.jsonl"
COMMANDS_KEPT = 500  # metadata.json has a size limit too


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

    def as_json(self) -> dict[str, Any]:
        names = ("argv", "exit_code", "duration_s", "timed_out")
        return {name: getattr(self, name) for name in names}


class WorkspaceManager:
    """The attempt's directory on the node. Every child it starts is ended by it."""

    def __init__(self, directory: Path, *, node_name: str, iterations: int = 1) -> None:
        self.directory = directory
        self.node_name = node_name
        self.commands: list[CommandResult] = []
        self.truncated: set[str] = set()
        self.last_progress_at = time.time()
        self.results = directory / RESULTS_DIRECTORY
        self._iterations = iterations
        self._current = self.results
        self.background: list[Background] = []
        self._streams = {name: self.open_capture(directory / name) for name in (STDOUT, STDERR)}
        self.results.mkdir(exist_ok=True)

    def begin_iteration(self, index: int) -> None:
        """From here on custom artifacts belong to this iteration (counted from 1)."""
        if self._iterations > 1:
            self._current = self.results / f"iteration-{index}"
            self._current.mkdir(exist_ok=True)

    def run_command(
        self,
        argv: Sequence[str | Path],
        *,
        timeout_s: float | None = None,
        env: Mapping[str, str] | None = None,
        cwd: str | Path | None = None,
        capture_to: Path | None = None,
    ) -> CommandResult:
        """Run to the end, or to `timeout_s`, and leave nothing of its process group running.

        Output goes to stdout.txt and stderr.txt, stdout to `capture_to` as well. `env` is added
        to our own. Raises CannotRun if the executable is missing. Any exit code is a result.
        """
        words, started = [str(word) for word in argv], time.monotonic()
        tails, timed_out = (Tail(), Tail()), False
        capture = self._capture(capture_to)
        sinks = (self._tee(STDOUT, tails[0], capture), self._tee(STDERR, tails[1], None))
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDING_SIGNALS)
        try:
            command = self.start(words, env=env, cwd=cwd, sinks=sinks)
            try:
                try:
                    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING_SIGNALS)
                    timed_out = not command.pump(started + timeout_s if timeout_s else None)
                finally:
                    # A signal may raise even here; what ends the group must not be cut short.
                    signal.pthread_sigmask(signal.SIG_BLOCK, ENDING_SIGNALS)
            finally:
                result = CommandResult(
                    argv=words,
                    exit_code=command.end(),
                    duration_s=round(time.monotonic() - started, 3),
                    timed_out=timed_out,
                    stdout_tail=tails[0].text,
                    stderr_tail=tails[1].text,
                )
                self.commands.append(result)
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING_SIGNALS)
            self.finish_capture(capture, capture_to)
        return result

    def start_command(
        self, argv: Sequence[str | Path], *, capture_to: Path, env: Mapping[str, str] | None = None
    ) -> Background:
        """Run beside the workload while the `with` lasts; both its streams go to `capture_to`."""
        return Background(self, [str(word) for word in argv], env=env, capture_to=capture_to)

    def write_file(self, name: str, text: str) -> Path:
        """Write a custom artifact and return its path."""
        path = self.get_custom_artifact_path(name)
        path.write_text(text, encoding="utf-8")
        self.note_progress()
        return path

    def get_custom_artifact_path(self, name: str) -> Path:
        """Return where the custom artifact `name` belongs; its directory exists."""
        path = self._current / name
        if name.startswith("/") or ".." in path.parts or path == self._current:
            raise ValueError(f"custom artifact {name!r} would lie outside {RESULTS_DIRECTORY}/")
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def say(self, line: str) -> None:
        """Write one line to stdout.txt, where whoever follows the run sees it."""
        self._streams[STDOUT].write(line.encode("utf-8", "replace") + b"\n")
        self.note_progress()

    def complain(self, text: str) -> None:
        """Write to stderr.txt."""
        self._streams[STDERR].write(text.encode("utf-8", "replace") + b"\n")

    def note_progress(self) -> None:
        self.last_progress_at = time.time()

    def checkpoint(self, entry: Mapping[str, Any]) -> None:
        """Append one line to checkpoints.jsonl; it is on disk when this returns."""
        with (self.directory / CHECKPOINTS).open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
            file.flush()
            os.fsync(file.fileno())
        self.note_progress()

    def close(self) -> None:
        """End what still runs and complete stdout.txt and stderr.txt."""
        for background in list(self.background):
            background.end()
        for name, stream in self._streams.items():
            if stream.truncated:
                self.truncated.add(name)
            stream.close()
        if len(self.commands) > COMMANDS_KEPT:
            self.truncated.add("commands")
            del self.commands[:-COMMANDS_KEPT]

    def finish_background(self, background: Background, *, exit_code: int) -> None:
        """Called by a sampler that has ended."""
        self.background.remove(background)
        self.commands.append(background.result(exit_code))

    def start(
        self,
        argv: list[str],
        *,
        env: Mapping[str, str] | None,
        cwd: str | Path | None,
        sinks: tuple[Sink, Sink],
    ) -> Command:
        environment = {**os.environ, "LC_ALL": "C", **(env or {})}
        path = environment.get("PATH", os.defpath)
        executable = find_executable(argv[0], path=path, node_name=self.node_name)
        return Command(
            argv,
            executable=executable,
            env=environment,
            stdout=sinks[0],
            stderr=sinks[1],
            cwd=str(cwd) if cwd else None,
        )

    def _tee(self, stream: str, tail: Tail, capture: BoundedFile | None) -> Sink:
        targets = [self._streams[stream].write, tail.write, *([capture.write] if capture else [])]

        def feed(data: bytes) -> None:
            for target in targets:
                target(data)
            self.note_progress()

        return feed

    def open_capture(self, path: Path) -> BoundedFile:
        return BoundedFile(path, limit_bytes=MAX_BYTES.get(path.name, MAX_BYTES[STDOUT]))

    def _capture(self, path: Path | None) -> BoundedFile | None:
        return self.open_capture(path) if path else None

    def finish_capture(self, capture: BoundedFile | None, path: Path | None) -> None:
        if capture and path:
            if capture.truncated:
                self.truncated.add(str(path.relative_to(self.directory)))
            capture.close()


class Background:
    """A sampler beside the workload; ended, group and all, when the `with` is left."""

    def __init__(
        self,
        workspace: WorkspaceManager,
        argv: list[str],
        *,
        env: Mapping[str, str] | None,
        capture_to: Path,
    ) -> None:
        self._workspace, self._argv, self._env = workspace, argv, env
        self._capture_to = capture_to
        self._command: Command | None = None

    def __enter__(self) -> Background:
        import threading  # only samplers need it

        workspace = self._workspace
        self._started = time.monotonic()
        self._capture = workspace.open_capture(self._capture_to)
        sinks = (self._capture.write, self._capture.write)
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDING_SIGNALS)  # the thread inherits this
        try:
            self._command = workspace.start(self._argv, env=self._env, cwd=None, sinks=sinks)
            workspace.background.append(self)
            self._pump = threading.Thread(target=self._command.pump, args=(None,), daemon=True)
            self._pump.start()
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING_SIGNALS)
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self.end()

    def result(self, exit_code: int) -> CommandResult:
        duration_s = round(time.monotonic() - self._started, 3)
        return CommandResult(
            argv=self._argv, exit_code=exit_code, duration_s=duration_s, timed_out=False
        )

    def end(self) -> None:
        """End the sampler. A second call does nothing."""
        command = self._command
        if command is None:
            return
        for number in (signal.SIGTERM, signal.SIGKILL):
            command.kill(number)
            self._pump.join(GRACE_S)
        exit_code = command.end()
        self._workspace.finish_capture(self._capture, self._capture_to)
        self._command = None  # last: an end that was cut short is begun again
        self._workspace.finish_background(self, exit_code=exit_code)
