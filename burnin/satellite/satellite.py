"""A satellite put together: what carries out orders, and the two threads that need none."""

from __future__ import annotations

import time
from datetime import UTC, datetime

from burnin.satellite.bundles import BundleDepot
from burnin.satellite.config import VERSION, HubConfig, SiteConfig, cluster_at
from burnin.satellite.doubts import Doubts
from burnin.satellite.hub_client import HubClient, trust_of
from burnin.satellite.loop import Loop
from burnin.satellite.messages import Heartbeat
from burnin.satellite.observer import Observer
from burnin.satellite.orders import Orders
from burnin.satellite.outbox import Outbox
from burnin.satellite.relay import Uploader
from burnin.satellite.sender import Sender
from burnin.satellite.submitter import Submitter
from burnin.satellite.tracker import Tracker
from burnin.satellite.unwanted import Unwanted


def _now() -> datetime:
    return datetime.now(UTC)


class Satellite:
    """`orders` may be called from any thread, also before `start`."""

    def __init__(self, site: SiteConfig, hub: HubConfig) -> None:
        cluster, outbox, tracker = cluster_at(site), Outbox(), Tracker()
        doubts, unwanted = Doubts(), Unwanted()
        submitter = Submitter(cluster, outbox, tracker, doubts, now=_now)
        self._observer = Observer(
            cluster,
            outbox,
            tracker,
            doubts=doubts,
            unwanted=unwanted,
            submitter=submitter,
            pace=site.pace,
            now=_now,
            clock=time.monotonic,
        )
        self._hub = HubClient(hub)
        self._watching = Loop("observer", self._observer.step)
        sender = Sender(
            outbox,
            self._hub,
            self._heartbeat,
            heartbeat_s=site.pace.heartbeat_s,
            clock=time.monotonic,
        )
        self._sending = Loop("sender", sender.step)
        outbox.on_put = self._sending.wake
        self.orders = Orders(
            site=site,
            cluster=cluster,
            outbox=outbox,
            tracker=tracker,
            unwanted=unwanted,
            submitter=submitter,
            # A connection of its own: facts do not wait behind a bundle.
            bundles=BundleDepot(HubClient(hub), cluster, clock=time.monotonic),
            put=Uploader(trust_of(hub)).put,
            observer=self._observer,
            look=self._watching.wake,
            now=_now,
        )

    def start(self) -> None:
        self._sending.start()
        self._watching.start()

    def stop(self) -> None:
        """Stop looking, then sending. What the hub did not take is found again after a restart."""
        self._watching.stop()
        self._sending.stop()
        self._hub.close()

    def _heartbeat(self) -> Heartbeat:
        reach = self._observer.reach()
        return Heartbeat(
            at=_now(),
            version=VERSION,
            login_host=reach.login_host,
            slurmctld=reach.slurmctld,
            accounting=reach.accounting,
        )
