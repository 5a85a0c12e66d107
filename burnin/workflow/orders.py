"""Turns attempts into orders for their site: fresh upload URLs, at most a hundred jobs each."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import groupby
from operator import attrgetter

from burnin.hardware_tests.run_context import DEADLINE_MARGIN_MINUTES
from burnin.models import Attempt
from burnin.satellite.messages import CancelOrder, JobOrder, OfAttempt, SubmitOrder, TaskName
from burnin.storage.store import ArtifactStore, incoming_key
from burnin.workflow.render import context_text
from burnin.workflow.site_queue import SiteQueue
from fleet.models import Site
from runner.contract import artifacts as contract
from runner.contract.wire import AttemptToken

JOBS_PER_ORDER = 100
ATTEMPTS_PER_CANCEL = 500
# An order that nobody took by then is sent again by reconcile, so an absent site is not flooded.
ORDER_LIVES_S = 60
URL_SLACK = timedelta(hours=6)  # a job may have to wait for its second submission
LONGEST_URL = timedelta(days=7)


def url_life(deadline_minutes: int) -> timedelta:
    """Return how long upload URLs must hold for a job that is submitted now."""
    return min(LONGEST_URL, timedelta(minutes=deadline_minutes) + URL_SLACK)


def upload_urls(
    store: ArtifactStore, site: Site, token: AttemptToken, *, expires_s: int
) -> dict[str, str]:
    """Return a URL for every artifact. Each can write that one object and nothing else."""
    return {
        name: store.upload_url(
            incoming_key(site.name, token, name), expires_s=expires_s, max_bytes=max_bytes
        )
        for name, max_bytes in contract.MAX_BYTES.items()
    }


def bundle_name(sha256: str) -> str:
    return f"runner-{sha256}.pyz"


def send_submits(
    site: Site,
    attempts: Sequence[Attempt],
    *,
    store: ArtifactStore,
    queue: SiteQueue,
) -> None:
    """Ask the site to submit these attempts, which it does once however often it is asked.

    Raises QueueUnreachable; what was not sent then is sent by reconcile.
    """
    for sha256, batch in _batches(attempts):
        order = SubmitOrder(
            bundle_name=bundle_name(sha256),
            bundle_sha256=sha256,
            jobs=tuple(_job_order(site, each, store) for each in batch),
        )
        queue.send(site.name, TaskName.SUBMIT, order, expires_s=ORDER_LIVES_S)


def send_cancels(
    site: Site, tokens: Sequence[AttemptToken], *, reason: str, queue: SiteQueue
) -> None:
    """Ask the site to end these attempts' jobs. Raises QueueUnreachable."""
    for start in range(0, len(tokens), ATTEMPTS_PER_CANCEL):
        order = CancelOrder(
            attempts=tuple(
                OfAttempt(run_id=each.run_id, attempt=each.attempt)
                for each in tokens[start : start + ATTEMPTS_PER_CANCEL]
            ),
            reason=reason,
        )
        queue.send(site.name, TaskName.CANCEL, order, expires_s=ORDER_LIVES_S)


def _batches(attempts: Sequence[Attempt]) -> Iterator[tuple[str, list[Attempt]]]:
    """Yield the attempts of one bundle together, in batches for one exec."""
    of_bundle = attrgetter("bundle_sha256")
    for sha256, group in groupby(sorted(attempts, key=of_bundle), key=of_bundle):
        same = list(group)
        for start in range(0, len(same), JOBS_PER_ORDER):
            yield sha256, same[start : start + JOBS_PER_ORDER]


def _job_order(site: Site, attempt: Attempt, store: ArtifactStore) -> JobOrder:
    """Sign URLs that live as long as those of the first order, which the site may have kept.

    So `uploads_expire_at` stays what the first ones hold: no later one ends before it.
    """
    run_minutes = attempt.context["time_limit_s"] // 60
    life = url_life(site.max_wait_minutes + run_minutes + DEADLINE_MARGIN_MINUTES)
    uploads = upload_urls(store, site, attempt.token, expires_s=int(life.total_seconds()))
    return JobOrder(
        run_id=str(attempt.run_id),
        attempt=attempt.number,
        script=attempt.script,
        context=context_text(attempt.context, uploads).decode(),
    )
