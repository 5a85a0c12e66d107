"""A site in memory: orders become calls of a fake Slurm, and what that shows becomes facts."""

from __future__ import annotations

import base64
import json
import uuid
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from burnin.satellite.messages import (
    CancelOrder,
    Envelope,
    Fact,
    FactBatch,
    Heartbeat,
    JobGone,
    JobOrder,
    JobSeen,
    LogPart,
    Message,
    NodeSeen,
    NodesSeen,
    RefreshOrder,
    Relayed,
    RelayOrder,
    SubmitAnswered,
    SubmitOrder,
    TailOrder,
)
from burnin.slurm import claims
from burnin.slurm.cluster import Answer, JobSnapshot, Observation, Submission, SubmitAnswer
from burnin.slurm.fake import FakeCluster, Workload
from burnin.storage.memory import MemoryStore
from burnin.storage.store import incoming_key
from burnin.tests.workflow.trouble import FakeQueue, Trouble
from burnin.tests.workflow.workloads import hello
from burnin.workflow.bells import Silence
from burnin.workflow.record import record_facts
from fleet.models import Site
from runner.contract.wire import AttemptToken

FORGOTTEN_AFTER_LOOKS = 2


@dataclass
class SimulatedSite:
    """Turns orders into calls of a fake cluster, and what that shows into facts.

    It forgets everything when it is killed; its nodes do not: they upload what they are asked to.
    """

    name: str
    cluster: FakeCluster
    store: MemoryStore
    queue: FakeQueue
    trouble: Trouble = field(default_factory=Trouble)
    is_on: bool = True
    uploads: dict[AttemptToken, Mapping[str, str]] = field(default_factory=dict)
    node_uploads: bool = True
    workload: Callable[[JobOrder], Workload] = lambda order: hello(order)
    workloads_asked: Counter[AttemptToken] = field(default_factory=Counter)
    refusals: list[str] = field(default_factory=list)
    posts: list[int] = field(default_factory=list)
    _jobs: dict[AttemptToken, str] = field(default_factory=dict)
    _told: dict[AttemptToken, JobSnapshot] = field(default_factory=dict)
    _absent: Counter[AttemptToken] = field(default_factory=Counter)
    _outbox: dict[str, Fact] = field(default_factory=dict)
    _ordered: dict[AttemptToken, JobOrder] = field(default_factory=dict)
    _nodes: tuple[NodeSeen, ...] = ()
    _doubts: dict[AttemptToken, tuple[Submission, claims.Unresolved]] = field(default_factory=dict)

    def tick(self, now: datetime) -> None:
        """Take orders, look, report. Off, nothing happens but what nodes and Slurm do."""
        self._upload()
        if not self.is_on:
            return
        if self.trouble.strikes():
            self.kill()
        for order in self.trouble.meet(self.queue.take(self.name)):
            self._obey(order)
        self._look()
        self._report(now)

    def kill(self) -> None:
        self._jobs.clear()
        self._told.clear()
        self._absent.clear()
        self._outbox.clear()
        self._doubts.clear()
        self._nodes = ()

    def _obey(self, order: Message) -> None:
        match order:
            case SubmitOrder():
                self._submit(order)
            case CancelOrder():
                self._cancel(order)
            case RelayOrder():
                self._relay(order)
            case TailOrder():
                self._tail(order)
            case RefreshOrder():
                self._jobs |= {job.token: job.job_id for job in order.jobs}
                self._told.clear()

    def _submit(self, order: SubmitOrder) -> None:
        by_token = {job.token: job for job in order.jobs}
        self._ordered |= by_token
        self.cluster.workload_of = lambda asked: self._start(self._ordered[asked.token])
        submissions = [Submission(j.token, j.script, j.context.encode()) for j in order.jobs]
        answers = self.cluster.submit(submissions)
        for job in submissions:
            self._answer(job, answers[job.token])

    def _answer(self, job: Submission, answer: SubmitAnswer) -> None:
        if answer.job_id:
            self._jobs[job.token] = answer.job_id
        if answer.kind is Answer.UNKNOWN:
            now = self.cluster.now
            self._doubts[job.token] = (job, claims.Unresolved(job.token, now, now))
        self._tell(_answered(job.token, answer))

    def _settle(self, shown: Observation) -> None:
        for token, (job, unresolved) in list(self._doubts.items()):
            decision = claims.decide(unresolved, shown, self.cluster.facts())
            if isinstance(decision, claims.Wait):
                self._doubts[token] = (job, decision.unresolved)
                continue
            del self._doubts[token]
            if isinstance(decision, claims.AskAgain):
                answers = self.cluster.submit([job], resubmit=frozenset({token}))
                self._answer(job, answers[token])

    def _start(self, job: JobOrder) -> Workload:
        self.workloads_asked[job.token] += 1
        self.uploads[job.token] = json.loads(job.context)["uploads"]
        return self.workload(job)

    def _cancel(self, order: CancelOrder) -> None:
        shown = self.cluster.observe().snapshots
        for attempt in order.attempts:
            self.cluster.cancel([job.job_id for job in shown.get(attempt.token, [])])

    def _relay(self, order: RelayOrder) -> None:
        about: dict[str, Any] = {"run_id": order.run_id, "attempt": order.attempt}
        if not self.store.is_reachable:
            self._tell(Relayed(**about, names=(), words="the store does not answer"))
            return
        found = {name: self.cluster.files.get((order.token, name)) for name in order.uploads}
        there = {name: content for name, content in found.items() if content is not None}
        for name, content in there.items():
            assert self.store.receive(order.uploads[name], content) == 201
        self._tell(Relayed(**about, names=tuple(there)))

    def _tail(self, order: TailOrder) -> None:
        content = self.cluster.tail(order.token, order.name, offset=order.offset, limit=order.limit)
        about = order.model_dump(include={"run_id", "attempt", "name", "offset"})
        self._tell(LogPart(**about, content=base64.b64encode(content)))

    def _look(self) -> None:
        observation = self.cluster.observe()
        self._settle(observation)
        shown = observation.snapshots
        for token, snapshots in shown.items():
            self._jobs[token] = snapshots[0].job_id
            self._see(snapshots[0])
        self._see_nodes()
        gone = {job: token for token, job in self._jobs.items() if token not in shown}
        found = self.cluster.look_up(gone)
        for job_id, token in gone.items():
            if job_id in found:
                self._see(found[job_id])
                continue
            self._absent[token] += 1
            if self._absent[token] == FORGOTTEN_AFTER_LOOKS:
                self._tell(JobGone(run_id=token.run_id, attempt=token.attempt, job_id=job_id))

    def _see(self, snapshot: JobSnapshot) -> None:
        if self._told.get(snapshot.token) != snapshot:
            self._told[snapshot.token] = snapshot
            self._tell(seen(snapshot))

    def _see_nodes(self) -> None:
        nodes = tuple(
            NodeSeen(
                name=node.name,
                state="+".join([node.state, *sorted(node.flags)]),
                is_usable=node.is_usable,
                cpu_count=node.cpu_count,
                memory_mib=node.memory_mib,
            )
            for node in self.cluster.nodes().values()
        )
        if nodes != self._nodes:
            self._nodes = nodes
            self._tell(NodesSeen(nodes=nodes))

    def _tell(self, fact: Fact) -> None:
        self._outbox[uuid.uuid4().hex] = fact

    def _report(self, now: datetime) -> None:
        """Post once; what is not answered stays for the next time."""
        facts: list[Fact] = [Heartbeat(at=now, version="simulated")]
        envelopes = [Envelope(id=key, fact=fact) for key, fact in self._outbox.items()]
        envelopes += [Envelope(id="beat", fact=facts[0])]
        met = self.trouble.meet(envelopes)
        sent = FactBatch(facts=tuple(met), sent_at=now)
        batch = FactBatch.model_validate_json(sent.model_dump_json())
        self.posts.append(len(batch.facts))
        site = Site.objects.get(name=self.name)
        answer = record_facts(site, batch, now=now, bells=Silence())
        self.refusals += [refusal.words for refusal in answer.refused]
        for key in [*answer.acknowledged, *(refusal.id for refusal in answer.refused)]:
            self._outbox.pop(key, None)

    def _upload(self) -> None:
        """Do what the runners of ended jobs did before they ended."""
        if not (self.node_uploads and self.store.is_reachable):
            return
        for (token, name), content in self.cluster.files.items():
            key = incoming_key(self.name, token, name)
            if key not in self.store.objects:
                self.store.receive(self.uploads[token][name], content)


def _answered(token: AttemptToken, answer: SubmitAnswer) -> SubmitAnswered:
    return SubmitAnswered.model_validate(
        {
            "run_id": token.run_id,
            "attempt": token.attempt,
            "answer": answer.kind.value,
            "job_id": answer.job_id or None,
            "words": answer.words,
        }
    )


def seen(snapshot: JobSnapshot) -> JobSeen:
    return JobSeen(
        run_id=snapshot.token.run_id,
        attempt=snapshot.token.attempt,
        job_id=snapshot.job_id,
        state=snapshot.state,
        reason=snapshot.reason,
        node_list=snapshot.node_list,
        exit_code=snapshot.exit_code or "",
        derived_exit_code=snapshot.derived_exit_code or "",
        source=snapshot.source,
    )
