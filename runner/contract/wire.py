"""What hub and node tell each other: exit codes, the attempt's token, context and metadata.

Both JSON documents carry `schema`; a reader refuses a number it does not know. Plain classes
and no `typing` import: 10,000 nodes pay for every import before their workload starts.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SCHEMA = 1


class ExitCode:
    """How `runner.pyz` ends. A tool's own exit code never shows here: it is in the metadata."""

    RAN = 0  # the workload ran; what it found is in the artifacts
    INTERNAL = 70  # a defect of ours
    CANNOT_RUN = 75  # it could not be measured; metadata.json says why
    TIMED_OUT = 76  # our own deadline came before the workload's end
    BAD_CONTEXT = 77  # the context file is missing, torn or of another schema
    ALREADY_CLAIMED = 78  # another start of this attempt works, or has worked
    REQUEUED = 79  # Slurm started this attempt a second time
    OLD_PYTHON = 80
    BAD_BUNDLE = 81  # the batch script's own check: runner.pyz is not the one that was sent
    INTERRUPTED = 82  # a signal (scancel, preemption) ended the workload


class Outcome:
    """What `metadata.json` says of the run. The runner judges nothing but this."""

    RAN = "ran"
    CANNOT_RUN = "cannot_run"
    TIMED_OUT = "timed_out"
    INTERRUPTED = "interrupted"


def margin_s(time_limit_s: float) -> float:
    """Return the seconds before Slurm's limit at which the runner ends its workload.

    It needs them to pack and upload in peace.
    """
    return min(max(30.0, time_limit_s * 0.05), 300.0, time_limit_s * 0.25)


class AttemptToken:
    """One Slurm job of one run. Everything that names an attempt is derived here."""

    __slots__ = ("attempt", "run_id")

    def __init__(self, run_id: str, attempt: int) -> None:
        self.run_id = run_id
        self.attempt = attempt

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AttemptToken):
            return False
        return self.run_id == other.run_id and self.attempt == other.attempt

    def __hash__(self) -> int:
        return hash(self.run_id)  # a str keeps its hash; 10,000 tokens are looked up at each look

    def __repr__(self) -> str:
        return f"AttemptToken({self.run_id!r}, {self.attempt})"

    @property
    def comment(self) -> str:
        """The `--comment` of the Slurm job, by which it is found again."""
        return f"{self.run_id}:{self.attempt}"

    @property
    def job_name(self) -> str:
        return f"bi-{self.run_id[:8]}-{self.attempt}"

    @property
    def directory(self) -> str:
        """The attempt's directory below `<work_dir>/attempts/`."""
        return f"{self.run_id}.{self.attempt}"

    @classmethod
    def parse(cls, comment: str) -> AttemptToken | None:
        """Return the token that a Slurm comment holds, or None if the job is not ours."""
        run_id, _, attempt = comment.rpartition(":")
        if len(run_id) != 36 or not (attempt.isascii() and attempt.isdecimal()):
            return None
        return cls(run_id, int(attempt))


class ExecutionContext:
    """What the node is told (`context.json`). Params are resolved: the node holds no defaults."""

    __slots__ = (
        "attempt",
        "facts_root",
        "iterations",
        "node_names",
        "num_nodes",
        "params",
        "run_id",
        "slug",
        "time_limit_s",
        "uploads",
    )

    def __init__(
        self,
        *,
        run_id: str,
        attempt: int,
        slug: str,
        params: dict[str, Any],
        node_names: list[str],
        num_nodes: int,
        time_limit_s: int,
        iterations: int,
        facts_root: str,
        uploads: dict[str, str],
    ) -> None:
        self.run_id = run_id
        self.attempt = attempt
        self.slug = slug
        self.params = params
        self.node_names = node_names  # the Slurm nodes asked for; empty: any one will do
        self.num_nodes = num_nodes
        self.time_limit_s = time_limit_s  # Slurm's limit of this job
        self.iterations = iterations
        self.facts_root = facts_root  # where /proc, /sys, /etc are; %N is the Slurm node name
        self.uploads = uploads  # artifact -> presigned PUT URL; empty: collected from work_dir

    @property
    def token(self) -> AttemptToken:
        return AttemptToken(self.run_id, self.attempt)

    def as_json(self) -> dict[str, Any]:
        return {"schema": SCHEMA, **{name: getattr(self, name) for name in self.__slots__}}
