"""What a cluster can be asked, what it answers, and how it says no.

`Cluster` is obeyed by `burnin.slurm.client.SlurmClient` (real) and by
`burnin.slurm.fake.FakeCluster`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from runner.contract.wire import AttemptToken


class ClusterUnreachable(Exception):
    """The cluster did not answer. Nothing is known about any job; try again."""


class ControllerUnreachable(ClusterUnreachable):
    """The login host answered, but Slurm's daemons did not answer it."""


class AccountingUnreachable(ClusterUnreachable):
    """Slurm answers, slurmdbd does not: of jobs that slurmctld forgot nothing is known.

    `found` are those that it remembers, by id.
    """

    def __init__(self, words: str, found: Mapping[str, JobSnapshot]) -> None:
        super().__init__(words)
        self.found = found


class HostKeyRefused(Exception):
    """The login host's key is unknown or has changed. A person has to look; do not try again."""


class LoginRefused(Exception):
    """The login host does not let us in. Trying again will not help."""


class NoSlurm(Exception):
    """There is no usable Slurm where the commands run."""


class SlurmRefused(Exception):
    """Slurm answered and said no. Trying again will not help."""

    def __init__(self, command: str, exit_code: int, stderr: str) -> None:
        super().__init__(f"`{command}` exited {exit_code}: {stderr.strip() or 'no message'}")
        self.command, self.exit_code, self.stderr = command, exit_code, stderr


class LoginHostFailed(Exception):
    """Our own script failed on the login host: work_dir is not writable, Python is missing, …"""


class Answer(StrEnum):
    ACCEPTED = "accepted"
    REFUSED = "refused"  # final for this attempt, with Slurm's words
    BACK_OFF = "back_off"  # Slurm did not take it, but will later: submit again
    UNKNOWN = "unknown"  # it may have been taken; see burnin.slurm.claims
    NOT_ASKED = "not_asked"  # the batch ended before its turn: submit again


@dataclass(frozen=True)
class Submission:
    """One job: its rendered batch script, and the context file the runner reads beside it."""

    token: AttemptToken
    script: str
    context: bytes


@dataclass(frozen=True)
class SubmitAnswer:
    """`asked_s_ago` is how long ago sbatch was called for this token, in seconds."""

    kind: Answer
    job_id: str = ""
    words: str = ""
    asked_s_ago: float = 0.0


@dataclass(frozen=True)
class JobSnapshot:
    """One job as Slurm showed it. `state` is Slurm's word, in capitals, without decoration.

    Exit codes are Slurm's "exit:signal"; None while the source does not tell.
    """

    job_id: str
    state: str
    reason: str
    node_list: str
    token: AttemptToken
    exit_code: str | None
    derived_exit_code: str | None
    source: str


@dataclass(frozen=True)
class Observation:
    """All our jobs that Slurm still knows. `at` is when the question was asked."""

    at: datetime
    snapshots: Mapping[AttemptToken, Sequence[JobSnapshot]]


@dataclass(frozen=True)
class Partition:
    """`max_time_s` is None when the partition has no limit."""

    name: str
    state: str
    is_default: bool
    max_time_s: int | None
    node_list: str
    node_count: int


@dataclass(frozen=True)
class Node:
    """A node as Slurm sees it; `reason` is an administrator's or Slurm's words."""

    name: str
    state: str
    flags: frozenset[str]
    reason: str
    partitions: tuple[str, ...]
    cpu_count: int
    memory_mib: int

    @property
    def is_usable(self) -> bool:
        """Say whether Slurm would start a job here when the node is free."""
        return self.state in {"IDLE", "MIXED", "ALLOCATED"} and self.flags <= HARMLESS_FLAGS


# A node in the cloud, a job that is ending, a plan of the backfill scheduler, a node that comes up:
# jobs start there. Of a flag that is not known, nothing good is assumed.
HARMLESS_FLAGS = frozenset({"CLOUD", "COMPLETING", "DYNAMIC_NORM", "PLANNED", "POWERING_UP"})


@dataclass(frozen=True)
class ClusterFacts:
    """How this cluster is configured. `min_job_age_s` 0 means that no job is ever forgotten."""

    name: str
    version: str
    min_job_age_s: int
    message_timeout_s: int
    max_job_count: int
    kill_wait_s: int
    job_requeue: int
    has_accounting: bool
    partitions: tuple[Partition, ...]


class Cluster(Protocol):
    """Every method raises ClusterUnreachable when nothing could be learned."""

    def submit(
        self,
        submissions: Sequence[Submission],
        *,
        resubmit: frozenset[AttemptToken] = frozenset(),
    ) -> dict[AttemptToken, SubmitAnswer]:
        """Submit a batch, each token at most once, however often this is called.

        A token in `resubmit` is asked for again although its outcome is unknown: the caller
        has shown with `burnin.slurm.claims` that Slurm did not take it.
        """
        ...

    def observe(self) -> Observation: ...

    def look_up(self, jobs: Mapping[str, AttemptToken]) -> dict[str, JobSnapshot]:
        """Find jobs (by id) that `observe` no longer shows. Absent means: nobody knows it.

        Raises AccountingUnreachable where only accounting could tell, and does not answer.
        """
        ...

    def cancel(self, job_ids: Iterable[str]) -> None:
        """Ask for the end of these jobs; those that ended already are no error."""
        ...

    def tail(self, token: AttemptToken, name: str, *, offset: int, limit: int) -> bytes:
        """Read at most `limit` bytes of an attempt's file from a byte offset.

        A file that is not there (yet) reads as empty.
        """
        ...

    def fetch(self, token: AttemptToken) -> bytes:
        """Return a tar of the attempt's artifacts, those that exist."""
        ...

    def deploy_bundle(self, name: str, content: bytes) -> str:
        """Put the bundle under work_dir, unless it is there, and return its path."""
        ...

    def facts(self) -> ClusterFacts: ...

    def nodes(self) -> dict[str, Node]: ...

    def login_python(self) -> str:
        """Return the version of the Python that our scripts run under on the login host."""
        ...

    def login_time(self) -> datetime:
        """Return what time the login host has."""
        ...

    def may_drain(self) -> bool:
        """Say whether this user may change the state of nodes. Changes nothing."""
        ...
