"""`hardware_tests dispatch`: one test on a real cluster, followed to its verdict."""

from typing import Any

from django.conf import settings
from django.core.management.base import OutputWrapper

from burnin.management.hardware_tests import order, through_hub, unread, verdict
from burnin.management.hardware_tests.interruptible import InterruptibleClock, interruptible
from burnin.satellite.config import SiteConfig
from burnin.workflow import wiring
from burnin.workflow.author_loop import Loop, run_once


def add_verbs(verbs: Any) -> None:
    parser = verbs.add_parser("dispatch", help="run a test on a cluster and judge it")
    order.add_options(parser)
    place = parser.add_mutually_exclusive_group(required=True)
    place.add_argument("--local", action="store_true", help="this machine's Slurm, no hub")
    place.add_argument("--site", help="by its own file in var/sites if it has one, else by the hub")
    parser.add_argument("--evidence", action="store_true", help="print what a reviewer needs")
    parser.set_defaults(act=dispatch)


def dispatch(stdout: OutputWrapper, options: dict[str, Any]) -> int:
    name = options["site"]
    site = None if name is None else wiring.own_site(name, sites_dir=settings.SITES_DIR)
    if site or name is None:
        return _dispatch_from_here(stdout, options, site)
    with interruptible() as clock:
        return through_hub.dispatch(
            stdout,
            options,
            clock,
            tell=lambda line: _tell(stdout, clock, line),
            why_stop=clock.why_stop,
        )


def _dispatch_from_here(
    stdout: OutputWrapper, options: dict[str, Any], site: SiteConfig | None
) -> int:
    """Follow the test without hub, satellite and database: what its author does."""
    asked = order.order_from(options)
    site = site or wiring.local_site(var_dir=settings.VAR_DIR)
    bundle = wiring.bundle(build_dir=settings.VAR_DIR / "bundles")
    stdout.write(f"{asked.test.slug} at site {site.name}, run {asked.token.run_id}")
    with interruptible() as clock:
        loop = Loop(
            site=site,
            cluster=wiring.cluster(site),
            clock=clock,
            tell=lambda line: _tell(stdout, clock, line),
            stop=clock.why_stop,
        )
        report = run_once(loop, asked, bundle=bundle, destination=settings.VAR_DIR / "attempts")
    verdict.write(stdout, report.judgement)
    if options["evidence"]:
        verdict.write_evidence(stdout, asked, report)
    return verdict.EXIT_CODES[report.judgement.verdict]


def _tell(stdout: OutputWrapper, clock: InterruptibleClock, line: str) -> None:
    """Print a line at once. Nobody is left to end a run whose output nobody reads: cancel it."""
    try:
        stdout.write(f"{clock.now():%H:%M:%S}  {line}")
        stdout.flush()
    except BrokenPipeError:
        unread.write_no_more(stdout)
        clock.stop("nobody reads its output any more")
