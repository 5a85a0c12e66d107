"""A satellite's parts round a fake cluster, with a clock that only `advance` moves."""

from __future__ import annotations

from dataclasses import dataclass, field

from burnin.satellite.bundles import BundleDepot
from burnin.satellite.config import PaceConfig, SiteConfig
from burnin.satellite.doubts import Doubts
from burnin.satellite.messages import Fact, FactAnswer, JobSeen, SubmitAnswered
from burnin.satellite.observer import Observer
from burnin.satellite.orders import Orders
from burnin.satellite.outbox import Outbox
from burnin.satellite.submitter import Submitter
from burnin.satellite.tracker import Tracker
from burnin.satellite.unwanted import Unwanted
from burnin.slurm.cluster import Submission
from burnin.slurm.fake import FakeCluster, Workload
from burnin.tests.satellite.given import submit_order

SHA256 = "a" * 64
SITE = SiteConfig(name="east", work_dir="/srv/burnin")


class Bundles:
    """A hub that has every bundle, and counts how often it is asked."""

    def __init__(self) -> None:
        self.requests = 0

    def bundle(self, sha256: str) -> bytes:
        self.requests += 1
        return sha256.encode()


@dataclass
class Bench:
    cluster: FakeCluster = field(default_factory=FakeCluster)
    pace: PaceConfig = field(default_factory=PaceConfig)

    def __post_init__(self) -> None:
        self.outbox, self.tracker = Outbox(), Tracker()
        self.doubts, self.unwanted, self.source = Doubts(), Unwanted(), Bundles()
        self.looks_wanted = 0
        submitter = Submitter(
            self.cluster, self.outbox, self.tracker, self.doubts, now=lambda: self.cluster.now
        )
        self.observer = Observer(
            self.cluster,
            self.outbox,
            self.tracker,
            doubts=self.doubts,
            unwanted=self.unwanted,
            submitter=submitter,
            pace=self.pace,
            now=lambda: self.cluster.now,
            clock=self.clock,
        )
        self.orders = Orders(
            site=SITE,
            cluster=self.cluster,
            outbox=self.outbox,
            tracker=self.tracker,
            unwanted=self.unwanted,
            submitter=submitter,
            bundles=BundleDepot(self.source, self.cluster, clock=self.clock),
            put=lambda content, size_bytes, url: None,
            observer=self.observer,
            look=self._look_is_wanted,
            now=lambda: self.cluster.now,
        )

    def clock(self) -> float:
        return self.cluster.now.timestamp()

    def _look_is_wanted(self) -> None:
        self.looks_wanted += 1

    def submit(self, *jobs: Submission) -> None:
        self.orders.submit(submit_order(jobs, SHA256))

    def look(self, after_s: float = 1.0) -> list[Fact]:
        """Let time pass, look once, and return what is told of it."""
        self.cluster.advance(after_s)
        self.observer.step()
        return self.told()

    def told(self) -> list[Fact]:
        """Return what the hub would be told now, and take it as acknowledged."""
        facts: list[Fact] = []
        while (batch := self.outbox.batch()) is not None:
            facts += [envelope.fact for envelope in batch.facts]
            ids = tuple(envelope.id for envelope in batch.facts)
            self.outbox.settle(FactAnswer(acknowledged=ids))
        return facts


def answers(facts: list[Fact]) -> list[str]:
    return [fact.answer for fact in facts if isinstance(fact, SubmitAnswered)]


def states(facts: list[Fact]) -> list[str]:
    return [fact.state for fact in facts if isinstance(fact, JobSeen)]


def lasting(duration_s: float) -> FakeCluster:
    cluster = FakeCluster()
    cluster.workload_of = lambda _: Workload(duration_s=duration_s)
    return cluster
