"""Asks a site to prove what it can do, and keeps what it found."""

import uuid
from datetime import datetime, timedelta

from burnin.models import AuditEntry
from burnin.models.audit import Actor
from burnin.satellite.messages import CheckOrder, SiteChecked, TaskName
from burnin.storage.store import ArtifactStore
from burnin.workflow import clocks
from burnin.workflow.ledger import NotTaken
from burnin.workflow.site_queue import SiteQueue
from burnin.workflow.sites import alone_at, why_off, why_silent
from fleet.models import Site

ASKED = "asked"  # in Site.capabilities: the check that is under way
CHECK = "check site"  # in the audit
CHECK_LIVES = timedelta(minutes=15)
PROBE_BYTES = 4096


class CheckRefused(Exception):
    """No check was sent; the message says why."""


def ask_by(by: Actor, site: Site, *, store: ArtifactStore, queue: SiteQueue, now: datetime) -> str:
    """Send the check for somebody, note who that was, and return its id.

    Raises CheckRefused at a site that would not hear of it, and what `ask` raises.
    """
    if why := why_unasked(site, now):
        raise CheckRefused(why)
    request_id = ask(site, store=store, queue=queue, now=now)
    AuditEntry.objects.write(by, CHECK, site, site=site, reason="", now=now)
    return request_id


def why_unasked(site: Site, now: datetime) -> str:
    """Say why the site would not hear of a check, or its answer would be lost; "" when not."""
    return why_off(site) or why_silent(site, now) or clocks.why_out_of_time(site)


def ask(site: Site, *, store: ArtifactStore, queue: SiteQueue, now: datetime) -> str:
    """Send the check and return its id. Raises QueueUnreachable.

    The answer comes as a fact; until then the site keeps what it had.
    """
    request_id = str(uuid.uuid4())
    order = CheckOrder(
        request_id=request_id,
        partition=site.partition,
        work_dir=site.work_dir,
        facts_root=site.facts_root,
        node_path=site.node_path,
        node_python=site.node_python,
        probe_url=store.upload_url(
            f"incoming/{site.name}/check-{request_id}",
            expires_s=int(CHECK_LIVES.total_seconds()),
            max_bytes=PROBE_BYTES,
        ),
    )
    asked = {
        "request_id": request_id,
        "configuration": site.configuration_digest(),
        "at": now.isoformat(),
    }
    with alone_at(site):
        site.refresh_from_db(fields=["capabilities"])
        site.capabilities = {**site.capabilities, ASKED: asked}
        site.save(update_fields=["capabilities"])
    queue.send(site.name, TaskName.CHECK, order, expires_s=int(CHECK_LIVES.total_seconds()))
    return request_id


def record(site: Site, fact: SiteChecked, now: datetime, *, skew_s: float | None) -> None:
    """Keep the findings. Only if all are good may jobs be sent. Raises NotTaken.

    `skew_s` is by how much the satellite's clock is ahead of ours.
    """
    asked = site.capabilities.get(ASKED, {})
    if fact.request_id == site.capabilities.get("request_id"):
        return  # a replay
    if asked.get("request_id") != fact.request_id:
        raise NotTaken(f"nobody waits for the check {fact.request_id}")
    found = [*fact.findings, clocks.finding(fact, skew_s)] if fact.findings else []
    findings = [each.model_dump(mode="json") for each in found]
    is_good = bool(found) and all(each.passed for each in found)
    site.capabilities = {
        "request_id": fact.request_id,
        "at": now.isoformat(),
        "is_good": is_good,
        "findings": findings,
    }
    site.checked_at = now if is_good else None
    site.checked_configuration = asked["configuration"] if is_good else ""
    site.save(update_fields=["capabilities", "checked_at", "checked_configuration"])
