"""What a satellite does when it is told to: one method an order, none of which waits for a job."""

from __future__ import annotations

import base64
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime

from burnin.satellite import relay, site_check
from burnin.satellite.bundles import BundleDepot
from burnin.satellite.config import SiteConfig
from burnin.satellite.hub_client import HubDisliked, HubRefused, HubUnreachable
from burnin.satellite.messages import (
    LOG_PART_BYTES,
    CancelOrder,
    CheckOrder,
    JobOrder,
    LogPart,
    RefreshOrder,
    RelayOrder,
    SubmitOrder,
    TailOrder,
)
from burnin.satellite.observer import Observer
from burnin.satellite.outbox import Outbox
from burnin.satellite.reach import CLUSTER_PROBLEMS
from burnin.satellite.submitter import Submitter
from burnin.satellite.tracker import Tracker
from burnin.satellite.unwanted import Unwanted
from burnin.slurm.cluster import Cluster, Submission
from runner.contract.wire import AttemptToken

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Orders:
    """`look` has the observer look at the cluster now."""

    site: SiteConfig
    cluster: Cluster
    outbox: Outbox
    tracker: Tracker
    unwanted: Unwanted
    submitter: Submitter
    bundles: BundleDepot
    put: relay.Put
    observer: Observer
    look: Callable[[], None]
    now: Callable[[], datetime]

    def submit(self, order: SubmitOrder) -> None:
        """Bring the bundle and hand the jobs to Slurm in one exec."""
        jobs = self._still_wanted(order)
        if not jobs:
            return
        tokens = [job.token for job in jobs]
        try:
            self.bundles.ensure(order.bundle_name, order.bundle_sha256)
        except (HubUnreachable, HubRefused, HubDisliked, *CLUSTER_PROBLEMS) as error:
            self.submitter.answer(tokens, "not_asked", f"the runner is not at the site: {error}")
            return
        self.submitter.submit([_submission(job) for job in jobs])
        self.look()

    def cancel(self, order: CancelOrder) -> None:
        """End these attempts' jobs, also those that Slurm shows only later."""
        tokens = [attempt.token for attempt in order.attempts]
        self.unwanted.add(tokens, order.reason, at=self.now())
        self.look()

    def tail(self, order: TailOrder) -> None:
        """Send what a log has from there on; nothing when there is no more of it, or no log yet."""
        try:
            content = self.cluster.tail(
                order.token, order.name, offset=order.offset, limit=order.limit
            )
        except CLUSTER_PROBLEMS as error:
            logger.warning("%s of %s was not read: %.500s", order.name, order.token.comment, error)
            return
        self.outbox.put(_log_parts(order, content))

    def relay(self, order: RelayOrder) -> None:
        """Bring to the store what the node could not, and say what came of it."""
        self.outbox.put([relay.relay(self.cluster, order, put=self.put)])

    def check(self, order: CheckOrder) -> None:
        """Prove the site. Its probe's job is nobody's run."""
        self.tracker.ignore(AttemptToken(order.request_id, 1))
        self.outbox.put([site_check.check(self.site, self.cluster, order, now=self.now)])

    def refresh(self, order: RefreshOrder) -> None:
        """Report everything at the next look, and follow the jobs the hub asks about."""
        for job in order.jobs:
            self.tracker.adopt(job.token, job.job_id, at=self.now())
        self.observer.report_all()
        self.look()

    def _still_wanted(self, order: SubmitOrder) -> list[JobOrder]:
        """Refuse what was cancelled before its order came: queues do not keep that in order."""
        wanted = []
        for job in order.jobs:
            reason = self.unwanted.reason(job.token)
            if reason is None:
                wanted.append(job)
            else:
                words = f"it was cancelled before it was submitted: {reason}"
                self.submitter.answer([job.token], "given_up", words)
        return wanted


def _log_parts(order: TailOrder, content: bytes) -> Iterator[LogPart]:
    for start in range(0, len(content), LOG_PART_BYTES):
        yield LogPart(
            run_id=order.run_id,
            attempt=order.attempt,
            name=order.name,
            offset=order.offset + start,
            content=base64.b64encode(content[start : start + LOG_PART_BYTES]),
        )


def _submission(job: JobOrder) -> Submission:
    return Submission(job.token, job.script, job.context.encode())
