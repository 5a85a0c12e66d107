"""Asks a site to prove what it can do, and keeps what it found."""

import uuid
from datetime import datetime, timedelta

from burnin.satellite.messages import CheckOrder, SiteChecked, TaskName
from burnin.storage.store import ArtifactStore
from burnin.workflow.ledger import NotTaken
from burnin.workflow.site_queue import SiteQueue
from burnin.workflow.sites import alone_at
from fleet.models import Site

ASKED = "asked"  # in Site.capabilities: the check that is under way
CHECK_LIVES = timedelta(minutes=15)
PROBE_BYTES = 4096


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


def record(site: Site, fact: SiteChecked, now: datetime) -> None:
    """Keep the findings. Only if all are good may jobs be sent. Raises NotTaken."""
    asked = site.capabilities.get(ASKED, {})
    if fact.request_id == site.capabilities.get("request_id"):
        return  # a replay
    if asked.get("request_id") != fact.request_id:
        raise NotTaken(f"nobody waits for the check {fact.request_id}")
    findings = [each.model_dump(mode="json") for each in fact.findings]
    is_good = bool(findings) and all(each.passed for each in fact.findings)
    site.capabilities = {
        "request_id": fact.request_id,
        "at": now.isoformat(),
        "is_good": is_good,
        "findings": findings,
    }
    site.checked_at = now if is_good else None
    site.checked_configuration = asked["configuration"] if is_good else ""
    site.save(update_fields=["capabilities", "checked_at", "checked_configuration"])
