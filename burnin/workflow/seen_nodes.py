"""What Slurm says of the nodes that the inventory knows."""

from datetime import datetime
from typing import Any

from burnin.models.set_sql import Change, SetWriter
from burnin.models.text import storable, storable_json
from burnin.satellite.messages import NodeSeen, NodesSeen
from fleet.models import Node, NodeListing, Site

UNLISTED = "Slurm does not list it any more"
SEEN = ("slurm_state", "slurm_reason", "is_usable", "cpu_count", "memory_mib", "seen_at")


def record(site: Site, fact: NodesSeen, now: datetime) -> None:
    """Write what changed, set-based. New nodes wait in the listing for `load_inventory`."""
    listed = {each.name: each for each in fact.nodes}
    rows = []
    for node in Node.objects.filter(site=site):
        seen = _seen(node, listed.pop(node.name, None), now)
        rows.append({"id": node.pk, **seen})
    SetWriter(Node, "default").update(rows, Change(own=SEEN))
    unknown = [each.model_dump(mode="json") for each in listed.values()]
    NodeListing.objects.update_or_create(
        site=site, defaults={"listed_at": now, "unknown": storable_json(unknown)}
    )


def _seen(node: Node, listed: NodeSeen | None, now: datetime) -> dict[str, Any]:
    if listed is None:
        return {
            "slurm_state": "",
            "slurm_reason": UNLISTED,
            "is_usable": False,
            "cpu_count": node.cpu_count,
            "memory_mib": node.memory_mib,
            "seen_at": node.seen_at,
        }
    return {
        "slurm_state": storable(listed.state, limit=63),
        "slurm_reason": storable(listed.reason, limit=1000),
        "is_usable": listed.is_usable,
        "cpu_count": listed.cpu_count,
        "memory_mib": listed.memory_mib,
        "seen_at": now,
    }
