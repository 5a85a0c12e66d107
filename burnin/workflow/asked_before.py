"""What a request that carries a key of its sender's has made already: it may be sent again."""

from __future__ import annotations

from burnin.models import AuditEntry, Job
from burnin.models.audit import Actor


def job_of(key: str, by: Actor) -> Job | None:
    """Return the job that this user made with this key. Without a user a key means nothing."""
    if not key or by.user is None:
        return None
    return Job.objects.filter(requested_by_id=by.user_id, idempotency_key=key).first()


def entry_of(key: str, by: Actor) -> AuditEntry | None:
    """Return what the audit says was done by this user with this key."""
    if not key or by.user is None:
        return None
    return AuditEntry.objects.filter(user_id=by.user_id, idempotency_key=key).first()


def taken(key: str, job: Job) -> str:
    """Say that the key stands for something else than what it comes with now."""
    return (
        f"idempotency key {key!r:.80} made job {job.pk}, which asks for something else: "
        "take a new key"
    )


def spent(entry: AuditEntry) -> str:
    """Say that a form has done its work, which was something else than it asks for now."""
    return (
        f"this form was sent before ({entry.action} {entry.object_name}: {entry.reason}), and asks "
        "for something else now: open the page again"
    )
