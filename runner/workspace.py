"""What an executor works with: commands, files and progress of one attempt."""

from __future__ import annotations

import json
import os
import signal
import time

from runner.bounded import BoundedFile, Tail
from runner.contract.artifacts import MAX_BYTES, RESULTS_DIRECTORY, STDERR, STDOUT
from runner.endings import ENDING_SIGNALS
from runner.process import Command, CommandResult, find_executable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from runner.process import Sink
    from runner.sampler import Background

CHECKPOINTS = "checkpoints.jsonl"
COMMANDS_KEPT = 500  # metadata.json has a size limit too


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
        self._background: list[Background] = []
        self._streams = {name: self._open(directory / name) for name in (STDOUT, STDERR)}
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
        capture = self._open(capture_to) if capture_to else None
        sinks = (self._tee(STDOUT, tails[0], capture), self._tee(STDERR, tails[1], None))
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDING_SIGNALS)
        try:
            command = self._start(words, env=env, cwd=cwd, sinks=sinks)
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
            if capture:
                self._finish_capture(capture)
        return result

    def start_command(
        self, argv: Sequence[str | Path], *, capture_to: Path, env: Mapping[str, str] | None = None
    ) -> Background:
        """Run beside the workload while the `with` lasts; both its streams go to `capture_to`."""
        from runner.sampler import Background

        words = [str(word) for word in argv]
        return Background(
            words,
            start=lambda sinks: self._start(words, env=env, cwd=None, sinks=sinks),
            capture=self._open(capture_to),
            on_start=self._background.append,
            on_end=self._finish_background,
        )

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
        for background in list(self._background):
            background.end()
        for name, stream in self._streams.items():
            if stream.truncated:
                self.truncated.add(name)
            stream.close()
        if len(self.commands) > COMMANDS_KEPT:
            self.truncated.add("commands")
            del self.commands[:-COMMANDS_KEPT]

    def _finish_background(self, background: Background, result: CommandResult) -> None:
        self._background.remove(background)
        self.commands.append(result)
        self._finish_capture(background.capture)

    def _start(
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

    def _open(self, path: Path) -> BoundedFile:
        return BoundedFile(path, limit_bytes=MAX_BYTES.get(path.name, MAX_BYTES[STDOUT]))

    def _finish_capture(self, capture: BoundedFile) -> None:
        if capture.truncated:
            self.truncated.add(str(capture.path.relative_to(self.directory)))
        capture.close()
