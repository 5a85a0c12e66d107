"""Stands in for an operator: lets the site prove itself, burns the machine in, tells verdicts.

It stays as long as everything does. When it is asked to end it cancels what runs, waits until
the hub has heard of it, and is then the first to go.
"""

import io
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import NoReturn

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.urls import reverse

from burnin.models import Job, NodeStanding
from burnin.models.job import JobState
from burnin.models.standing import NodeState
from burnin.workflow import wiring
from burnin.workflow.plan import PlanRefused
from burnin.workflow.sites import why_silent
from deploy.one_machine import jobs, machine
from deploy.one_machine.place import LOGIN_NAME, SITE
from deploy.one_machine.preset import lesser_preset, whole_preset
from fleet.models import Node, NodeListing, Site

MACHINE_ID = Path("/etc/machine-id")  # what the runner reads too
LOOK_S = 0.5


class Asked(BaseException):
    """We were asked to end. Not an Exception: nothing on the way may swallow it."""


@dataclass(frozen=True)
class Wish:
    """`token` and `since` are those of the whole start: we may be started again during it."""

    node_name: str
    token: str
    since: datetime
    burn_in: bool


def attend(wish: Wish, password_file: Path) -> None:
    """Do all of it; return when we were asked to end and nothing runs any more."""
    signal.signal(signal.SIGTERM, _ask)
    site = Site.objects.get(name=SITE)
    verdicts = jobs.Verdicts(site, wish.since, _say)
    try:
        _say(_where(password_file))
        if _proves_itself(site, wish):
            _burn_in(site, wish, verdicts, password_file)
        while True:
            _look(verdicts)
    except Asked:
        jobs.cancel_jobs(
            site, "`make run` was ended", queue=wiring.site_queue(), now=datetime.now(UTC)
        )
        _wait(lambda: not jobs.unfinished(site), verdicts)


def _ask(number: int, frame: FrameType | None) -> NoReturn:
    del number, frame
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise Asked


def _say(sentence: str) -> None:
    print(sentence, flush=True)


def _look(verdicts: jobs.Verdicts) -> None:
    verdicts.tell()
    time.sleep(LOOK_S)


def _wait(holds: Callable[[], bool], verdicts: jobs.Verdicts) -> None:
    while not holds():
        _look(verdicts)
    verdicts.tell()


def _where(password_file: Path) -> str:
    password = password_file.read_text().strip()
    user = User.objects.get(username=LOGIN_NAME)
    known = user.check_password(password)
    said = f"password {password}" if known else "the password that you gave it"
    return f"{settings.PUBLIC_URL}/  log in as {LOGIN_NAME}, {said}"


def _proves_itself(site: Site, wish: Wish) -> bool:
    """Bring the node in and have the site checked; say what is wrong with it."""
    while not _is_listed(site, wish.since):
        time.sleep(LOOK_S)
    call_command("load_inventory", SITE, stdout=io.StringIO())
    _know_this_machine(site, wish.node_name)
    said = io.StringIO()
    try:
        call_command("site_check", SITE, stdout=said)
    except SystemExit:
        _say(said.getvalue().rstrip())
        return False
    return True


def _know_this_machine(site: Site, name: str) -> None:
    """Tell the inventory which machine the node is: evidence of an unknown one counts for nothing.

    Elsewhere a person confirms it; here the hub stands on the node itself.
    """
    node = Node.objects.get(site=site, name=name)
    if node.machine_id or not MACHINE_ID.is_file():
        return
    node.machine_id = MACHINE_ID.read_text().strip()
    node.save(update_fields=["machine_id"])


def _is_listed(site: Site, since: datetime) -> bool:
    """Return whether this start's satellite is alive and has listed the node."""
    site.refresh_from_db()
    listed = NodeListing.objects.filter(site=site, listed_at__gte=since)
    return listed.exists() and not why_silent(site, datetime.now(UTC))


def _burn_in(site: Site, wish: Wish, verdicts: jobs.Verdicts, password_file: Path) -> None:
    """Burn the machine in on its first start, or when asked, and tell how it ended."""
    newest = Job.objects.filter(site=site).order_by("-created_at").first()
    is_ours = newest is not None and newest.idempotency_key == jobs.key_of(wish.token)
    if newest is not None and not wish.burn_in and not is_ours:
        _say(_kept(newest))
        _say(_standing(site, wish.node_name))
        return
    site.refresh_from_db()
    store, bells, now = wiring.store(), wiring.bells(), datetime.now(UTC)
    preset = lesser_preset() if machine.why_kernel_log_is_closed() else whole_preset()
    try:
        job = jobs.burn_in(
            site, wish.node_name, preset, wish.token, store=store, bells=bells, now=now
        )
    except PlanRefused as refusal:
        _say(f"Not burned in: {refusal}")
        return
    tests = ", ".join(str(step["slug"]) for step in job.steps)
    _say(f"Burning in {wish.node_name} with {preset}: {tests} (times are UTC)")
    _wait(lambda: _is_done(job), verdicts)
    page = settings.PUBLIC_URL + reverse("dashboards:job", args=[job.pk])
    _say(f"{wish.node_name}: {job.verdict.upper()}, see {page}")
    _say(_standing(site, wish.node_name))
    _say(_where(password_file))


def _standing(site: Site, node_name: str) -> str:
    standing = NodeStanding.objects.filter(node__site=site, node__name=node_name).first()
    if standing is None:  # no verdict has been weighed: nothing was shown
        return f"{node_name} is not accepted (untested): {NodeState.UNTESTED.label}"
    if standing.state != NodeState.ACCEPTED:
        return f"{node_name} is not accepted ({standing.state}): {standing.reason}"
    return f"{node_name} is accepted: {standing.reason}"


def _kept(newest: Job) -> str:
    ended = newest.verdict or f"not done ({newest.state})"
    return (
        f"The newest job here, of {newest.created_at:%Y-%m-%d %H:%M} UTC: {ended}; "
        "`make run RUN_OPTIONS=--burn-in` burns the machine in again"
    )


def _is_done(job: Job) -> bool:
    job.refresh_from_db()
    return job.state == JobState.DONE
