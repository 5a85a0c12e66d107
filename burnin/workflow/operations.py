"""Takes down what was done to a node: evidence of the tests that it touches no longer counts."""

from __future__ import annotations

from datetime import datetime, timedelta

from burnin.hardware_tests.stale_operations import load_stale_operations
from burnin.models import AuditEntry
from burnin.models.audit import Actor
from burnin.models.text import storable
from burnin.workflow import asked_before
from burnin.workflow.sites import alone_at
from fleet.models import HardwareOperation, Node

ACTION = "report operation"
AHEAD = timedelta(minutes=5)  # as much as clocks may differ


class OperationRefused(Exception):
    """Nothing was written; the message says what to change."""


def report_operation(
    node: Node,
    operation: str,
    *,
    performed_at: datetime,
    note: str,
    by: Actor,
    now: datetime,
    idempotency_key: str = "",
) -> HardwareOperation:
    """Write the operation and who reported it. Late is as good as in time. Raises OperationRefused.

    `operation` is a key of stale_test_operations.yaml. Asked again with the key of the same user,
    return what that one wrote.
    """
    known = load_stale_operations()
    if operation not in known:
        raise OperationRefused(
            f"there is no operation {operation!r:.80}: it is one of {', '.join(known)}"
        )
    if performed_at > now + AHEAD:
        raise OperationRefused(
            f"it cannot have been done at {performed_at:%Y-%m-%d %H:%M %Z}, which is yet to come"
        )
    said = {
        "node": node,
        "operation": operation,
        "performed_at": performed_at,
        "recorded_by_id": by.user_id,
        "note": storable(note.strip(), limit=1000),
    }
    with alone_at(node.site):
        if entry := asked_before.entry_of(idempotency_key, by):
            before = HardwareOperation.objects.filter(**said).first()
            if before is None:
                raise OperationRefused(asked_before.spent(entry))
            return before
        reported = HardwareOperation.objects.create(**said)
        AuditEntry.objects.write(
            by,
            ACTION,
            node,
            site=node.site,
            reason=f"{operation} {note}".strip(),
            now=now,
            idempotency_key=idempotency_key,
        )
    return reported
