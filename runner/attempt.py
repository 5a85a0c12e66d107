"""The life of one attempt on the node, from claim to metadata.json."""

from __future__ import annotations

import os
import sys
import time

from runner.claim import claim_attempt
from runner.contract.artifacts import CUSTOM, METADATA, STARTED, STDERR, STDOUT
from runner.contract.wire import SCHEMA, ExitCode, Outcome, margin_s
from runner.documents import write_json
from runner.endings import CannotRun, EndedEarly, Endings
from runner.facts import job_facts
from runner.workspace import WorkspaceManager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from runner.base import BaseRunner
    from runner.contract.wire import ExecutionContext
    from runner.facts import SlurmJob

EXIT_CODES = {
    Outcome.RAN: ExitCode.RAN,
    Outcome.CANNOT_RUN: ExitCode.CANNOT_RUN,
    Outcome.TIMED_OUT: ExitCode.TIMED_OUT,
    Outcome.INTERRUPTED: ExitCode.INTERRUPTED,
}
STARTED_BUDGET_S = 15.0  # a store that is down must not hold up the workload
INTERRUPTED_BUDGET_S = 15.0  # Slurm kills 30 s after the signal
ARTIFACTS_SHARE = 0.75  # of the time for uploads; the rest is for metadata.json
RESERVE_S = 2.0  # kept free before Slurm's limit


class Attempt:
    """One start of one attempt. `run` is called once."""

    def __init__(
        self,
        context: ExecutionContext,
        executor: type[BaseRunner],
        *,
        directory: Path,
        slurm: SlurmJob,
        program: tuple[str, ...],
        version: str,
        age_s: float,
    ) -> None:
        self.context, self.executor, self.directory = context, executor, directory
        self.slurm, self.program, self.version = slurm, program, version
        self.began = time.monotonic() - age_s
        self.started_at = time.time() - age_s
        self.outcome, self.reason = Outcome.RAN, ""
        self.exit_code = ExitCode.INTERNAL
        self.facts: list[dict[str, Any]] = []
        self.iterations: list[dict[str, Any]] = []
        self.spooled: list[str] = []

    def run(self) -> int:
        """Claim, work, hand over; return the exit code. Raises AlreadyClaimed."""
        endings = Endings(
            time_limit_s=self.context.time_limit_s, elapsed_s=time.monotonic() - self.began
        )
        endings.listen()
        holder = {"job_id": self.slurm.job_id, "node": self.slurm.node_name, "pid": os.getpid()}
        claim_attempt(self.directory, holder)
        self.workspace = WorkspaceManager(
            self.directory, node_name=self.slurm.node_name, iterations=self.context.iterations
        )
        self._work(endings)
        self._hand_over()
        return self.exit_code

    def _work(self, endings: Endings) -> None:
        try:
            try:
                endings.arm()
                self._announce()
                self._iterate()
            finally:
                endings.disarm()
        except (CannotRun, EndedEarly) as error:
            self._end(_outcome_of(error), str(error))
        except Exception as error:
            self._end(Outcome.CANNOT_RUN, f"the runner failed: {type(error).__name__}: {error}")
            self._confess()
        else:
            self._end(Outcome.RAN, "")

    def _end(self, outcome: str, reason: str) -> None:
        self.outcome, self.reason = outcome, reason
        self.exit_code = EXIT_CODES[outcome]
        if reason:
            print(f"runner: {outcome}: {reason}", file=sys.stderr, flush=True)

    def _confess(self) -> None:
        import traceback

        self.exit_code = ExitCode.INTERNAL
        self.workspace.complain(traceback.format_exc())
        traceback.print_exc()

    def _announce(self) -> None:
        """Say where we are before anything can hang: started.json, here and in the store."""
        self.facts = job_facts(
            self.workspace,
            facts_root=self.context.facts_root,
            num_nodes=self.context.num_nodes,
            this_program=self.program,
        )
        self._check_nodes()
        write_json(self.directory / STARTED, {**self._identity(), "facts": self.facts})
        self._upload([STARTED], budget_s=min(STARTED_BUDGET_S, self._left_s()))

    def _check_nodes(self) -> None:
        asked, got = self.context.node_names, self._node_names()
        if self.slurm.job_id and asked and sorted(asked) != sorted(got):
            raise CannotRun(f"Slurm gave {', '.join(got)}, but {', '.join(asked)} was asked for")

    def _iterate(self) -> None:
        executor = self.executor()
        for index in range(1, self.context.iterations + 1):
            entry = {"index": index, "outcome": Outcome.RAN, "started_at": time.time()}
            self.workspace.begin_iteration(index)
            self.workspace.checkpoint({**entry, "outcome": "started"})
            try:
                executor.execute(self.context, self.workspace)
            except BaseException as error:
                entry["outcome"] = _outcome_of(error)
                raise
            finally:
                self.iterations.append({**entry, "finished_at": time.time()})
                self.workspace.checkpoint(self.iterations[-1])

    def _hand_over(self) -> None:
        """Complete the artifacts here, then copy them to the store, metadata.json last."""
        finished_at = time.time()
        self._complete_artifacts()
        metadata = self._metadata(finished_at)
        write_json(self.directory / METADATA, metadata)
        budget_s = self._hand_over_budget_s()
        self._upload([STDOUT, STDERR, CUSTOM], budget_s=budget_s * ARTIFACTS_SHARE)
        if self.spooled:
            write_json(self.directory / METADATA, {**metadata, "spooled": self.spooled})
        self._upload([METADATA], budget_s=budget_s * (1 - ARTIFACTS_SHARE))

    def _complete_artifacts(self) -> None:
        """Close the streams and pack results/. A disk that is full means: not measured."""
        from runner.packing import pack

        try:
            self.workspace.close()
            left_out = pack(self.workspace.results, self.directory / CUSTOM)
        except OSError as error:
            self._end(Outcome.CANNOT_RUN, f"the artifacts could not be completed: {error}")
            left_out = [CUSTOM]
        self.workspace.truncated.update(left_out, [CUSTOM] if left_out else [])

    def _upload(self, names: list[str], *, budget_s: float) -> None:
        wanted = [name for name in names if name in self.context.uploads]
        if not wanted:
            return
        from runner.upload import Uploader, UploadFailed

        uploader = Uploader(deadline=time.monotonic() + budget_s)
        for name in wanted:
            try:
                uploader.put(self.directory / name, self.context.uploads[name])
            except UploadFailed as error:
                self.spooled.append(name)
                print(f"runner: {error}; it stays in the workspace", file=sys.stderr, flush=True)

    def _left_s(self) -> float:
        return self.began + self.context.time_limit_s - time.monotonic() - RESERVE_S

    def _hand_over_budget_s(self) -> float:
        if self.outcome == Outcome.INTERRUPTED:
            return INTERRUPTED_BUDGET_S
        return max(min(margin_s(self.context.time_limit_s), self._left_s()), 0.0)

    def _node_names(self) -> list[str]:
        return [fact["node_name"] for fact in self.facts] or [self.slurm.node_name]

    def _identity(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "run_id": self.context.run_id,
            "attempt": self.context.attempt,
            "slug": self.context.slug,
            "runner_version": self.version,
            "started_at": self.started_at,
            "node_names": self._node_names(),
            "slurm": self.slurm.as_json(),
        }

    def _metadata(self, finished_at: float) -> dict[str, Any]:
        from runner.gpu_tools import CONTAINER
        from runner.packing import digest
        from runner.tools import tool_versions

        present = [name for name in (STARTED, STDOUT, STDERR, CUSTOM) if self._has(name)]
        return {
            **self._identity(),
            "outcome": self.outcome,
            "reason": self.reason,
            "finished_at": finished_at,
            "last_progress_at": self.workspace.last_progress_at,
            "facts": self.facts,
            "params": self.context.params,
            "container": os.environ.get(CONTAINER, ""),
            "tools": tool_versions(self.executor.tools, node_name=self.slurm.node_name),
            "commands": [command.as_json() for command in self.workspace.commands],
            "iterations": self.iterations,
            "artifacts": {name: digest(self.directory / name) for name in present},
            "truncated": sorted(self.workspace.truncated),
            "spooled": self.spooled,
        }

    def _has(self, name: str) -> bool:
        return (self.directory / name).is_file()


def _outcome_of(error: BaseException) -> str:
    return error.outcome if isinstance(error, EndedEarly) else Outcome.CANNOT_RUN
