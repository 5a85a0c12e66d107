"""A hub and its sites in one process: a fake Slurm, a store in memory, and a clock that is moved.

Lost, doubled, late and reordered orders and facts are what `Trouble` is for.
"""

from __future__ import annotations

import json
import random
import uuid
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from burnin.models import Job, Preset
from burnin.models.limits import load_shipped
from burnin.satellite.messages import (
    CancelOrder,
    Envelope,
    Fact,
    FactBatch,
    Heartbeat,
    JobGone,
    JobOrder,
    JobSeen,
    Message,
    NodeSeen,
    NodesSeen,
    RefreshOrder,
    Relayed,
    RelayOrder,
    SubmitAnswered,
    SubmitOrder,
)
from burnin.slurm import claims
from burnin.slurm.cluster import Answer, JobSnapshot, Observation, Submission, SubmitAnswer
from burnin.slurm.fake import EPOCH, FakeCluster, Workload
from burnin.storage.memory import MemoryStore
from burnin.storage.store import incoming_key
from burnin.tests.attempts import HELLO, write_attempt
from burnin.workflow.bells import Silence
from burnin.workflow.collect_site import collect_site
from burnin.workflow.dispatch import dispatch_site
from burnin.workflow.plan import JobRequest, StepRequest, plan_job
from burnin.workflow.reconcile import reconcile_site
from burnin.workflow.record import record_facts
from burnin.workflow.render import Bundle
from burnin.workflow.site_queue import QueueUnreachable
from fleet.models import Node, ResourceClass, Site
from runner.contract.slugs import Slugs
from runner.contract.wire import AttemptToken

BUNDLE = Bundle("runner-" + "0" * 64 + ".pyz", "0" * 64, b"bundle")
TICK_S = 10
RECONCILE_EVERY = timedelta(seconds=30)
FORGOTTEN_AFTER_LOOKS = 2


class FakeQueue:
    """Obeys SiteQueue. An order that is not taken in time is gone."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self.is_reachable = True
        self.sent: list[tuple[str, str, Message]] = []
        self._waiting: list[tuple[datetime, str, Message]] = []

    def send(self, site_name: str, task_name: str, order: Message, *, expires_s: int) -> None:
        if not self.is_reachable:
            raise QueueUnreachable("the broker is switched off")
        order = type(order).model_validate(json.loads(order.model_dump_json()), strict=False)
        self.sent.append((site_name, task_name, order))
        self._waiting.append((self._now() + timedelta(seconds=expires_s), site_name, order))

    def take(self, site_name: str) -> list[Message]:
        """Return the site's orders that have not expired, oldest first."""
        mine = [each for each in self._waiting if each[1] == site_name]
        self._waiting = [each for each in self._waiting if each[1] != site_name]
        return [order for expires_at, _, order in mine if expires_at > self._now()]

    def count(self, kind: type[Message]) -> int:
        return sum(isinstance(order, kind) for _, _, order in self.sent)


class Trouble:
    """What becomes of orders and facts on their way, and of processes. By itself: nothing."""

    def meet(self, things: list[Any]) -> list[Any]:
        return things

    def strikes(self) -> bool:
        return False


class RandomTrouble(Trouble):
    """Drops, doubles and reorders, and strikes now and then, until it is over."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.is_over = False

    def meet(self, things: list[Any]) -> list[Any]:
        if self.is_over:
            return things
        copies = self._random.choices((0, 1, 2), weights=(15, 70, 15), k=len(things))
        met = [thing for thing, count in zip(things, copies, strict=True) for _ in range(count)]
        self._random.shuffle(met)
        return met

    def strikes(self) -> bool:
        return not self.is_over and self._random.random() < 0.15


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
        batch = FactBatch.model_validate_json(FactBatch(facts=tuple(met)).model_dump_json())
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


def hello(order: JobOrder, *, duration_s: float = 10, **metadata: Any) -> Workload:
    """A hello-world that passes on the node it was sent to, or as `metadata` says."""
    node = json.loads(order.context)["node_names"][0]
    files = _files(order.run_id, order.attempt, node, json.dumps(metadata))
    return Workload(duration_s=duration_s, files=files)


def failing(order: JobOrder) -> Workload:
    """A hello-world whose node says that it is another one: a measured fault."""
    passed = hello(order)
    wrong = _files(order.run_id, order.attempt, "n1", "{}", "another")
    node = json.loads(order.context)["node_names"][0]
    return Workload(
        duration_s=passed.duration_s,
        state="FAILED",
        exit_code="1:0",
        files=wrong if node == "n1" else _files(order.run_id, order.attempt, node, "{}", "another"),
    )


@cache
def _files(
    run_id: str, attempt: int, node: str, metadata: str, says: str = ""
) -> Mapping[str, bytes]:
    with TemporaryDirectory() as directory:
        write_attempt(
            Path(directory),
            token=AttemptToken(run_id, attempt),
            results={"hello.json": json.dumps({**HELLO, "node_name": says or node})},
            **{"node_names": [node], **json.loads(metadata)},
        )
        return {path.name: path.read_bytes() for path in Path(directory).iterdir()}


@dataclass
class Hub:
    """The hub's steps with fakes, and its one site. `advance` moves everybody's clock."""

    site_row: Site
    site: SimulatedSite
    store: MemoryStore
    queue: FakeQueue
    is_on: bool = True
    _reconcile_at: datetime = EPOCH + RECONCILE_EVERY

    @property
    def now(self) -> datetime:
        return self.site.cluster.now

    def plan(self, *steps: StepRequest, nodes: list[str] | None = None, **more: Any) -> Job:
        names = [node.name for node in Node.objects.filter(site=self.site_row)]
        request = JobRequest(
            site=Site.objects.get(pk=self.site_row.pk),
            node_names=names if nodes is None else nodes,
            steps=steps or (StepRequest(Slugs.HELLO_WORLD, timeout_minutes=5),),
            **more,
        )
        return plan_job(request, store=self.store, bells=Silence(), now=self.now)

    def advance(self, seconds: float, *, tick_s: float = TICK_S) -> None:
        """Let that much time pass in ticks."""
        for _ in range(max(1, round(seconds / tick_s))):
            self.site.cluster.advance(tick_s)
            self.site.tick(self.now)
            if self.is_on:
                self.work()

    def work(self) -> None:
        """Do what the bells and ticks would; trouble takes the broker or the store away."""
        trouble = self.site.trouble
        if isinstance(trouble, RandomTrouble):
            self.queue.is_reachable = not trouble.strikes()
            self.store.is_reachable = not trouble.strikes()
        site = Site.objects.get(pk=self.site_row.pk)
        dispatch_site(site, store=self.store, queue=self.queue, bundle=BUNDLE, now=self.now)
        self.collect()
        if self.now >= self._reconcile_at:
            self._reconcile_at = self.now + RECONCILE_EVERY
            self.reconcile()

    def collect(self) -> int:
        site = Site.objects.get(pk=self.site_row.pk)
        return collect_site(site, store=self.store, queue=self.queue, bells=Silence(), now=self.now)

    def reconcile(self) -> None:
        site = Site.objects.get(pk=self.site_row.pk)
        reconcile_site(site, store=self.store, queue=self.queue, bells=Silence(), now=self.now)


def make_hub(*node_names: str, name: str = "east", trouble: Trouble | None = None) -> Hub:
    """Make a checked site with these nodes whose satellite has just reported."""
    names = node_names or ("n1", "n2")
    cluster = FakeCluster(names)
    store = MemoryStore(now=lambda: cluster.now.timestamp())
    queue = FakeQueue(lambda: cluster.now)
    load_shipped()
    row = Site.objects.create(name=name, partition="main", work_dir="/work", checked_at=cluster.now)
    row.checked_configuration = row.configuration_digest()
    row.heartbeat_at = cluster.now
    row.save()
    generic = ResourceClass.objects.get(name="cpu-generic")
    Node.objects.bulk_create(
        Node(site=row, name=each, resource_class=generic, slurm_state="IDLE") for each in names
    )
    site = SimulatedSite(name, cluster, store, queue, trouble or Trouble())
    return Hub(row, site, store, queue)


def make_preset(name: str, *steps: dict[str, Any]) -> Preset:
    preset = Preset.objects.create(name=name)
    for position, step in enumerate(steps, start=1):
        preset.steps.create(
            **{
                "position": position,
                "stage": 1,
                "slug": Slugs.HELLO_WORLD,
                "timeout_minutes": 5,
                **step,
            }
        )
    return preset
