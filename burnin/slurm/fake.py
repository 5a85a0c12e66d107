"""An in-memory cluster whose clock only `advance` moves, for tests that need no Slurm."""

from __future__ import annotations

import hashlib
import io
import re
import tarfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from burnin.slurm import hostlist
from burnin.slurm.cluster import (
    AccountingUnreachable,
    Answer,
    ClusterFacts,
    ClusterUnreachable,
    JobSnapshot,
    LoginHostFailed,
    Node,
    Observation,
    Partition,
    Submission,
    SubmitAnswer,
)
from runner.contract import artifacts
from runner.contract.wire import AttemptToken

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
_OPTION = re.compile(r"^#SBATCH\s+--([a-z-]+)(?:=(\S+))?", re.MULTILINE)


@dataclass(frozen=True)
class Workload:
    """What a fake job does once it runs: for how long, how it ends, what it leaves behind."""

    duration_s: float = 1.0
    state: str = "COMPLETED"
    exit_code: str = "0:0"
    files: Mapping[str, bytes] = field(default_factory=dict)


@dataclass
class _Job:
    job_id: int
    token: AttemptToken
    partition: str
    wanted: tuple[str, ...]
    node_count: int
    limit_s: float
    workload: Workload
    state: str = "PENDING"
    reason: str = "None"
    nodes: tuple[str, ...] = ()
    started_at: datetime = EPOCH
    ended_at: datetime | None = None

    @property
    def ends_at(self) -> datetime:
        return self.started_at + timedelta(seconds=min(self.workload.duration_s, self.limit_s))


class FakeCluster:
    """Obeys `burnin.slurm.cluster.Cluster`; one job per node at a time.

    Set `is_unreachable` to cut the line, `workload_of` to say what each job does,
    `answers` to have the next submissions refused, sent back or left in doubt.
    """

    def __init__(
        self,
        node_names: Sequence[str] = ("n1", "n2"),
        *,
        min_job_age_s: int = 300,
        message_timeout_s: int = 10,
        partition_state: str = "UP",
    ) -> None:
        self.now = EPOCH
        self.is_unreachable = False
        self.is_accounting_away = False
        self.workload_of: Callable[[Submission], Workload] = lambda _: Workload()
        self.answers: list[SubmitAnswer] = []
        self.files: dict[tuple[AttemptToken, str], bytes] = {}
        self.bundles: dict[str, bytes] = {}
        self._nodes = {name: Node(name, "IDLE", frozenset(), "", ("main",), 4, 2000)
                       for name in node_names}  # fmt: skip
        self._partition = Partition(
            "main", partition_state, True, None, hostlist.fold(node_names), len(node_names)
        )
        self._limits = (min_job_age_s, message_timeout_s)
        self._jobs: list[_Job] = []
        self._claims: dict[AttemptToken, SubmitAnswer] = {}

    def advance(self, seconds: float) -> None:
        """Let time pass: jobs start, end and are forgotten in their order."""
        target = self.now + timedelta(seconds=seconds)
        self._start_jobs()
        while ending := [job for job in self._running() if job.ends_at <= target]:
            job = min(ending, key=lambda job: job.ends_at)
            self.now = max(self.now, job.ends_at)
            timed_out = job.workload.duration_s > job.limit_s
            self._end(job, "TIMEOUT" if timed_out else job.workload.state)
            self._start_jobs()
        self.now = target

    def fail_node(self, name: str) -> None:
        """The node stops answering: what runs there ends as NODE_FAIL."""
        flags = frozenset({"NOT_RESPONDING"})
        self._nodes[name] = replace(self._nodes[name], state="DOWN", flags=flags)
        for job in self._running():
            if name in job.nodes:
                self._end(job, "NODE_FAIL")

    def take_in_doubt(self, submission: Submission) -> str:
        """Slurm has the job although the answer never came; return its id."""
        self._claims[submission.token] = SubmitAnswer(Answer.UNKNOWN, words="Socket timed out")
        return self._accept(submission).job_id

    # What the product asks of it

    def submit(
        self,
        submissions: Sequence[Submission],
        *,
        resubmit: frozenset[AttemptToken] = frozenset(),
    ) -> dict[AttemptToken, SubmitAnswer]:
        self._answer_or_raise()
        answers = {job.token: SubmitAnswer(Answer.NOT_ASKED) for job in submissions}
        for job in submissions:
            answers[job.token], asked = self._submit_one(job, job.token in resubmit)
            if asked and answers[job.token].kind is Answer.UNKNOWN:
                break
        return answers

    def observe(self) -> Observation:
        self._answer_or_raise()
        found: dict[AttemptToken, list[JobSnapshot]] = {}
        for job in self._remembered():
            found.setdefault(job.token, []).append(_snapshot(job))
        return Observation(self.now, found)

    def look_up(self, jobs: Mapping[str, AttemptToken]) -> dict[str, JobSnapshot]:
        """Accounting forgets nothing."""
        self._answer_or_raise()
        if self.is_accounting_away:
            raise AccountingUnreachable("the fake slurmdbd is switched off", {})
        known = {str(job.job_id): job for job in self._jobs}
        return {
            job_id: replace(_snapshot(known[job_id]), source="sacct", reason="")
            for job_id, token in jobs.items()
            if job_id in known and known[job_id].token == token
        }

    def cancel(self, job_ids: Iterable[str]) -> None:
        self._answer_or_raise()
        ids = set(job_ids)
        for job in self._jobs:
            if str(job.job_id) in ids and job.ended_at is None:
                self._end(job, "CANCELLED")

    def tail(self, token: AttemptToken, name: str, *, offset: int, limit: int) -> bytes:
        self._answer_or_raise()
        return self.files.get((token, name), b"")[offset : offset + limit]

    def fetch(self, token: AttemptToken) -> bytes:
        self._answer_or_raise()
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w") as archive:
            for name, limit in artifacts.MAX_BYTES.items():
                content = self.files.get((token, name))
                if content is not None and len(content) > limit:
                    raise LoginHostFailed(f"{name} is {len(content)} bytes long")
                if content is not None:
                    member = tarfile.TarInfo(name)
                    member.size = len(content)
                    archive.addfile(member, io.BytesIO(content))
        return buffer.getvalue()

    def deploy_bundle(self, name: str, content: bytes) -> str:
        self._answer_or_raise()
        self.bundles[name] = content
        return f"/fake/bundles/{hashlib.sha256(content).hexdigest()[:8]}/{name}"

    def facts(self) -> ClusterFacts:
        self._answer_or_raise()
        min_job_age_s, message_timeout_s = self._limits
        return ClusterFacts(
            name="fake",
            version="22.05.8",
            min_job_age_s=min_job_age_s,
            message_timeout_s=message_timeout_s,
            max_job_count=10_000,
            kill_wait_s=5,
            job_requeue=1,
            has_accounting=True,
            partitions=(self._partition,),
        )

    def login_time(self) -> datetime:
        self._answer_or_raise()
        return self.now

    def nodes(self) -> dict[str, Node]:
        self._answer_or_raise()
        return dict(self._nodes)

    def login_python(self) -> str:
        self._answer_or_raise()
        return "3.11.2"

    def may_drain(self) -> bool:
        self._answer_or_raise()
        return True

    def _answer_or_raise(self) -> None:
        if self.is_unreachable:
            raise ClusterUnreachable("the fake cluster is switched off")

    def _submit_one(self, job: Submission, is_renewed: bool) -> tuple[SubmitAnswer, bool]:
        """Return the answer, and whether Slurm was asked for it."""
        known = self._claims.get(job.token)
        if known is not None and not (known.kind is Answer.UNKNOWN and is_renewed):
            return known, False
        answer = self.answers.pop(0) if self.answers else self._accept(job)
        if answer.kind in {Answer.ACCEPTED, Answer.REFUSED, Answer.UNKNOWN}:
            self._claims[job.token] = answer
        return answer, True

    def _accept(self, submission: Submission) -> SubmitAnswer:
        options = dict(_OPTION.findall(submission.script))
        names = options.get("nodelist", "")
        wanted = tuple(hostlist.expand(names)) if names else ()
        job = _Job(
            job_id=len(self._jobs) + 1,
            token=submission.token,
            partition=options.get("partition", "main"),
            wanted=wanted,
            node_count=int(options.get("nodes", "") or len(wanted) or 1),
            limit_s=_limit_s(options.get("time", "60")),
            workload=self.workload_of(submission),
        )
        if job.partition != "main" or not set(wanted) <= set(self._nodes):
            return SubmitAnswer(Answer.REFUSED, words="Invalid partition or node name specified")
        self._jobs.append(job)
        return SubmitAnswer(Answer.ACCEPTED, job_id=str(job.job_id))

    def _start_jobs(self) -> None:
        for job in self._jobs:
            if job.state != "PENDING":
                continue
            busy = {name for other in self._running() for name in other.nodes}
            free = [name for name, node in self._nodes.items()
                    if node.is_usable and name not in busy]  # fmt: skip
            names = tuple(name for name in free if not job.wanted or name in job.wanted)
            if self._partition.state != "UP":
                job.reason = "PartitionDown"
            elif job.node_count > len(self._nodes):
                job.reason = "PartitionNodeLimit"
            elif len(names) < job.node_count:
                job.reason = "Resources"
            else:
                job.state, job.reason, job.started_at = "RUNNING", "None", self.now
                job.nodes = names[: job.node_count]

    def _end(self, job: _Job, state: str) -> None:
        job.state, job.ended_at = state, self.now
        job.reason = {"FAILED": "NonZeroExitCode", "TIMEOUT": "TimeLimit", "NODE_FAIL": "NodeDown"}.get(state, "None")  # fmt: skip # noqa: E501
        if state == job.workload.state:
            for name, content in job.workload.files.items():
                self.files[job.token, name] = content

    def _running(self) -> list[_Job]:
        return [job for job in self._jobs if job.state == "RUNNING"]

    def _remembered(self) -> list[_Job]:
        age = timedelta(seconds=self._limits[0])
        return [job for job in self._jobs if job.ended_at is None or self.now < job.ended_at + age]


def _snapshot(job: _Job) -> JobSnapshot:
    exit_code = None
    if job.ended_at is not None:
        own = job.state == job.workload.state
        exit_code = job.workload.exit_code if own else {"CANCELLED": "0:15"}.get(job.state, "0:0")
    return JobSnapshot(
        job_id=str(job.job_id),
        state=job.state,
        reason=job.reason,
        node_list=hostlist.fold(job.nodes),
        token=job.token,
        exit_code=exit_code,
        derived_exit_code=None if exit_code is None else "0:0",
        source="squeue",
    )


def _limit_s(text: str) -> float:
    """Read `--time`: minutes, or hours:minutes:seconds."""
    if text.isdecimal():
        return int(text) * 60.0
    parts = [int(part) for part in text.split(":")]
    return float(sum(part * 60**power for power, part in enumerate(reversed(parts))))
