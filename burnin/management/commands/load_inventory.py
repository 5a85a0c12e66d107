"""`load_inventory <site>`: its nodes, from Slurm into the inventory."""

from argparse import ArgumentParser
from datetime import datetime
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from burnin.management.hardware_tests import bad_input
from burnin.satellite.config import BadSite
from burnin.satellite.messages import NodeSeen
from burnin.workflow import inventory, wiring
from burnin.workflow.inventory import NoInventory
from fleet.management.command import EXIT_BAD_INPUT, HubCommand
from fleet.models import ResourceClass, Site

NAMES_SHOWN = 10


class Command(HubCommand):
    help = (
        "Create the nodes of a site that Slurm lists and the inventory does not have. The list is "
        "the satellite's if it is fresh; else Slurm is asked directly, where the site's TOML file "
        "stands on this machine (a site that is not known yet is then created from it)."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("site")
        parser.add_argument(
            "--resource-class", default="cpu-generic", help="of nodes that are new (cpu-generic)"
        )
        parser.add_argument("--partition", default="", help="of a site that is new (the default)")

    def handle(self, *_: Any, **options: Any) -> None:
        try:
            self._load(options, wiring.SystemClock().now())
        except (NoInventory, *bad_input.ERRORS) as error:
            raise CommandError(str(error), returncode=EXIT_BAD_INPUT) from error

    def _load(self, options: dict[str, Any], now: datetime) -> None:
        resource_class = _class(options["resource_class"])
        site, new = _listed(options["site"], options["partition"], now)
        brought = inventory.bring_in(site, new, resource_class, now)
        self.stdout.write(f"new, of class {resource_class}: {_named(brought.created)}")
        self.stdout.write(f"known: {_named(brought.known)}")
        if brought.vanished:
            self.stdout.write(
                f"not listed by Slurm any more, and kept: {_named(brought.vanished)} "
                "(delete them in the admin if they are gone for good)"
            )


def _class(name: str) -> ResourceClass:
    if found := ResourceClass.objects.filter(name=name).first():
        return found
    known = ", ".join(ResourceClass.objects.values_list("name", flat=True))
    raise NoInventory(
        f"there is no resource class {name!r:.60} (known: {known or 'none'}): add it, or run "
        "`manage.py load_catalogue` for those of this release"
    )


def _listed(name: str, partition: str, now: datetime) -> tuple[Site, list[NodeSeen]]:
    """Return the site and its nodes that are new here."""
    site = Site.objects.filter(name=name).first()
    if site is not None:
        new = inventory.listed_by_satellite(site, now)
        if new is not None:
            return site, new
    try:
        config = wiring.named_site(name, sites_dir=settings.SITES_DIR)
    except BadSite as error:
        raise NoInventory(_nowhere(name, site, error)) from error
    cluster = wiring.cluster(config)
    nodes = inventory.read_nodes(cluster)
    if site is None:
        site = inventory.site_of(config, cluster.facts(), partition)
    return site, inventory.record(site, nodes, now)


def _nowhere(name: str, site: Site | None, error: BadSite) -> str:
    if site is None:
        return f"the inventory has no site {name!r:.60}, and {error}"
    return (
        f"no satellite of {name} has listed its nodes in the last "
        f"{inventory.FRESH_FOR.total_seconds() / 60:.0f} minutes: start it at the site "
        f"(to ask Slurm from here instead: {error})"
    )


def _named(names: tuple[str, ...]) -> str:
    more = len(names) - NAMES_SHOWN
    shown = ", ".join(names[:NAMES_SHOWN]) or "none"
    return f"{shown} and {more} more" if more > 0 else shown
