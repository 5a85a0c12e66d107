"""`site_check <site>`: the site proves what it can do, from its login host and from a node."""

import sys
from argparse import ArgumentParser
from datetime import datetime, timedelta
from typing import Any

from django.core.management.base import CommandError

from burnin.models.audit import Actor
from burnin.storage.store import StoreRefused, StoreUnreachable
from burnin.workflow import site_check, wiring
from burnin.workflow.site_check import CheckRefused
from burnin.workflow.site_queue import QueueUnreachable
from burnin.workflow.sites import why_silent
from fleet.management.command import EXIT_BAD_INPUT, HubCommand
from fleet.models import Site

WHO = Actor("the command line")
EXIT_NOT_GOOD = 1
EXIT_NO_ANSWER = 3
LOOK_EVERY_S = 1.0
DEFAULT_WAIT_S = 300


class Command(HubCommand):
    help = (
        "Probe a site through its satellite and store what it can do. "
        "Exit 0: jobs may be sent; 1: a probe failed; 3: no answer in time; 64: nothing was asked."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("site")
        parser.add_argument("--wait", type=int, default=DEFAULT_WAIT_S, help="seconds (300)")

    def handle(self, *_: Any, **options: Any) -> None:
        clock = wiring.SystemClock()
        site = _site(options["site"])
        request_id = _ask(site, clock.now())
        self.stdout.write(f"asked the satellite of {site.name} (check {request_id})")
        self.stdout.flush()
        until = clock.now() + timedelta(seconds=options["wait"])
        while site.capabilities.get("request_id") != request_id:
            if clock.now() > until:
                raise CommandError(_no_answer(site, clock.now()), returncode=EXIT_NO_ANSWER)
            clock.sleep(LOOK_EVERY_S)
            site.refresh_from_db()
        self._tell(site)

    def _tell(self, site: Site) -> None:
        findings = site.capabilities["findings"]
        width = max((len(each["probe"]) for each in findings), default=0)
        for each in findings:
            said = each["found"] if each["passed"] else each["words"] or each["found"]
            verdict = "good" if each["passed"] else "BAD "
            self.stdout.write(f"  {verdict}  {each['probe']:<{width}}  {said}".rstrip())
        if site.is_checked:
            self.stdout.write(f"site {site.name} can take jobs")
            return
        bad = ", ".join(each["probe"] for each in findings if not each["passed"])
        why = f"these probes failed: {bad}" if bad else "its configuration changed meanwhile"
        self.stdout.write(f"site {site.name} cannot take jobs: {why}")
        sys.exit(EXIT_NOT_GOOD)


def _site(name: str) -> Site:
    site = Site.objects.filter(name=name).first()
    if site is None:
        known = ", ".join(Site.objects.values_list("name", flat=True)) or "none"
        raise _refused(f"there is no site {name!r:.60} (known: {known})")
    return site


def _ask(site: Site, now: datetime) -> str:
    store, queue = wiring.store(), wiring.site_queue()
    try:
        return site_check.ask_by(WHO, site, store=store, queue=queue, now=now)
    except (CheckRefused, QueueUnreachable, StoreUnreachable, StoreRefused) as error:
        raise _refused(str(error)) from error


def _no_answer(site: Site, now: datetime) -> str:
    why = why_silent(site, now) or "its satellite is alive; see its log, or give --wait more time"
    return f"site {site.name} has not answered: {why}"


def _refused(sentence: str) -> CommandError:
    return CommandError(sentence, returncode=EXIT_BAD_INPUT)
