"""What an operator does to a node here: leave it out, take it back, say which machine it is."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from burnin.models import AuditEntry, LatestResult
from burnin.models.audit import LONGEST_REASON, Actor
from burnin.models.text import storable
from burnin.workflow import asked_before
from burnin.workflow.sites import alone_at
from fleet.models import Node

EXCLUDE = "exclude node"
TAKE_BACK = "take node back"
CONFIRM = "confirm identity"
IDENTITY = ("dmi_serial", "machine_id", "gpu_uuids")


class NodeRefused(Exception):
    """Nothing was written; the message says what to change."""


@dataclass(frozen=True)
class Wish:
    """Who wants it, and why. The same key again, from the same user, is the same wish."""

    by: Actor
    reason: str
    idempotency_key: str = ""


def exclude(node: Node, wish: Wish, *, now: datetime) -> None:
    """Send no test to the node from now on. What runs there goes on. Raises NodeRefused."""
    _save(node, EXCLUDE, wish, now, excluded_because=storable(wish.reason, limit=1000))


def take_back(node: Node, wish: Wish, *, now: datetime) -> None:
    """Let tests be sent to the node again. Raises NodeRefused."""
    _save(node, TAKE_BACK, wish, now, excluded_because="")


def confirm_identity(node: Node, wish: Wish, *, now: datetime, shown: str | None = None) -> None:
    """Take what the node last said of itself as what it is. Raises NodeRefused.

    Evidence counts only for a machine that the inventory knows. `shown` is the mark of what was
    confirmed, for another machine may have spoken since under this name; None: whatever it is.
    """
    with alone_at(node.site):
        said = seen_identity(node)
        read = {name: value for name in IDENTITY if (value := said.get(name))}
        if not read:
            raise NodeRefused(
                f"{node.name} has not said yet which machine it is: run a test on it first"
            )
        if shown not in (None, mark_of(said)):
            raise NodeRefused(
                f"{node.name} has said something else of itself since: look at it again"
            )
        # What it could not read this time stays as it is known.
        _save(node, CONFIRM, wish, now, **read)


def mark_of(said: Mapping[str, Any]) -> str:
    """Return a short name for what a node said of itself."""
    canonical = json.dumps([said.get(name) for name in IDENTITY])
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]


def seen_identity(node: Node) -> Mapping[str, Any]:
    """Return what the node said of itself in its newest conclusive result."""
    newest = LatestResult.objects.filter(node=node).order_by("-started_at").first()
    return newest.identity if newest else {}


def _save(node: Node, action: str, wish: Wish, now: datetime, **changes: Any) -> None:
    if not wish.reason.strip():
        raise NodeRefused("say why: the reason is kept in the audit list")
    with alone_at(node.site):
        if _is_done(node, action, wish):
            return
        for name, value in changes.items():
            setattr(node, name, value)
        node.save(update_fields=list(changes))
        AuditEntry.objects.write(
            wish.by,
            action,
            node,
            site=node.site,
            reason=wish.reason,
            now=now,
            idempotency_key=wish.idempotency_key,
        )


def _is_done(node: Node, action: str, wish: Wish) -> bool:
    """Say whether this very wish was granted before. Raises NodeRefused if another one was."""
    entry = asked_before.entry_of(wish.idempotency_key, wish.by)
    if entry is None:
        return False
    reason = storable(wish.reason.strip(), limit=LONGEST_REASON)
    if (entry.action, entry.object_id, entry.reason) != (action, str(node.pk), reason):
        raise NodeRefused(asked_before.spent(entry))
    return True
