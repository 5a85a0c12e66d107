"""A hub and its sites in one process: a store in memory, and a clock that is moved."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from burnin.models import Job, Preset
from burnin.models.limits import load_shipped
from burnin.slurm.fake import EPOCH, FakeCluster
from burnin.storage.memory import MemoryStore
from burnin.tests.workflow.simulated_site import SimulatedSite
from burnin.tests.workflow.trouble import FakeQueue, RandomTrouble, Trouble
from burnin.workflow.bells import Silence
from burnin.workflow.clocks import SKEW
from burnin.workflow.collect_site import collect_site
from burnin.workflow.dispatch import dispatch_site
from burnin.workflow.plan import JobRequest, StepRequest, plan_job
from burnin.workflow.reconcile import reconcile_site
from burnin.workflow.render import Bundle
from fleet.models import Node, ResourceClass, Site
from runner.contract.slugs import Slugs

BUNDLE = Bundle("runner-" + "0" * 64 + ".pyz", "0" * 64, b"bundle")
ONCE = StepRequest(Slugs.HELLO_WORLD, timeout_minutes=5, max_attempts=1)
TICK_S = 10
RECONCILE_EVERY = timedelta(seconds=30)


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
        dispatch_site(site, store=self.store, queue=self.queue, build=lambda: BUNDLE, now=self.now)
        self.collect()
        if self.now >= self._reconcile_at:
            self._reconcile_at = self.now + RECONCILE_EVERY
            self.reconcile()

    def collect(self) -> int:
        site = Site.objects.get(pk=self.site_row.pk)
        return collect_site(
            site, store=self.store, queue=self.queue, bells=Silence(), clock=lambda: self.now
        )

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
    row.heartbeat_at, row.reach = cluster.now, {SKEW: 0.0}
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
