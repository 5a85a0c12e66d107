"""Brings a site's nodes into the inventory: what its satellite listed, or its Slurm itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from burnin.models.set_sql import SetWriter
from burnin.models.text import storable
from burnin.satellite.config import SiteConfig
from burnin.satellite.messages import NodeSeen, NodesSeen
from burnin.satellite.observer import node_seen
from burnin.slurm.cluster import Cluster, ClusterFacts
from burnin.workflow import seen_nodes
from burnin.workflow.sites import alone_at
from fleet.models import Node, NodeListing, ResourceClass, Site

FRESH_FOR = timedelta(minutes=3)  # satellites list their nodes every minute


class NoInventory(Exception):
    """The nodes cannot be brought in. Nothing was written; the message says what to do."""


@dataclass(frozen=True)
class Brought:
    """Slurm names of the nodes: new here, known before, and known but not listed any more."""

    created: tuple[str, ...]
    known: tuple[str, ...]
    vanished: tuple[str, ...]


def listed_by_satellite(site: Site, now: datetime) -> list[NodeSeen] | None:
    """Return the nodes that are new here by the satellite's last word; None if that is old."""
    listing = NodeListing.objects.filter(site=site).first()
    if listing is None or now - listing.listed_at > FRESH_FOR:
        return None
    return [NodeSeen.model_validate(each) for each in listing.unknown]


def read_nodes(cluster: Cluster) -> NodesSeen:
    """Ask Slurm for every node of the cluster. Raises whatever the cluster raises."""
    return NodesSeen(nodes=tuple(node_seen(each) for each in cluster.nodes().values()))


def record(site: Site, nodes: NodesSeen, now: datetime) -> list[NodeSeen]:
    """Write what Slurm says of known nodes, and return those that are new here."""
    with alone_at(site):
        seen_nodes.record(site, nodes, now)
    return listed_by_satellite(site, now) or []


def bring_in(
    site: Site, new: Sequence[NodeSeen], resource_class: ResourceClass, now: datetime
) -> Brought:
    """Create the new nodes with this class. Known ones keep theirs, and none is deleted."""
    with alone_at(site):
        known = dict(Node.objects.filter(site=site).values_list("name", "seen_at"))
        rows = [_row(site, each, resource_class, now) for each in new if each.name not in known]
        SetWriter(Node, Node.objects.db).insert(rows)
        NodeListing.objects.filter(site=site).update(unknown=[])
        listing = NodeListing.objects.get(site=site)
    vanished = [name for name, at in known.items() if at is None or at < listing.listed_at]
    return Brought(
        created=tuple(row["name"] for row in rows),
        known=tuple(name for name in known if name not in vanished),
        vanished=tuple(vanished),
    )


def site_of(config: SiteConfig, facts: ClusterFacts, partition: str) -> Site:
    """Return a new site, saved, as its file and its Slurm describe it. Raises NoInventory."""
    names = [each.name for each in facts.partitions]
    default = next((each.name for each in facts.partitions if each.is_default), "")
    chosen = partition or default
    if chosen not in names:
        what = f"no partition {chosen!r:.60}" if chosen else "no default partition"
        raise NoInventory(
            f"Slurm at {config.name} has {what}: name one of {', '.join(names)} with --partition"
        )
    return Site.objects.create(
        name=config.name,
        partition=chosen,
        work_dir=config.work_dir,
        facts_root=config.facts_root,
        node_path=config.node_path,
        node_python=config.node_python,
        containers=config.containers,
        shared_storage=config.shared_storage or "",
    )


def _row(
    site: Site, seen: NodeSeen, resource_class: ResourceClass, now: datetime
) -> dict[str, Any]:
    return {
        "site_id": site.pk,
        "name": storable(seen.name, limit=255),
        "resource_class_id": resource_class.pk,
        "dmi_serial": "",
        "machine_id": "",
        "gpu_uuids": [],
        "cpu_count": seen.cpu_count,
        "memory_mib": seen.memory_mib,
        "slurm_state": storable(seen.state, limit=63),
        "slurm_reason": storable(seen.reason, limit=1000),
        "is_usable": seen.is_usable,
        "seen_at": now,
        "excluded_because": "",
    }
