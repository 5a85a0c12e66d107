"""Weighs what is shown of nodes, and writes where they stand."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain

from django.conf import settings
from django.db import transaction
from django.db.models import Q

from burnin.evidence import Standing as Counts
from burnin.models.ground import Ground, Proof, evidence_lives_for, grounds_of
from burnin.models.set_sql import SetWriter
from burnin.models.standing import NodeStanding, NodeState
from burnin.models.text import storable
from burnin.models.trouble import Trouble
from burnin.states import Verdict
from fleet.models import Node

NODES_AT_ONCE = 500
SLUGS_NAMED = 3
TICK = timedelta(microseconds=1)  # at its last moment evidence still counts

_REPLACE = """ON CONFLICT (node_id) DO UPDATE SET
    since = CASE WHEN burnin_nodestanding.state = excluded.state
        THEN burnin_nodestanding.since ELSE excluded.since END,
    state = excluded.state, reason = excluded.reason, required = excluded.required,
    passed = excluded.passed, weigh_at = excluded.weigh_at,
    lives_for_days = excluded.lives_for_days"""


@dataclass(frozen=True)
class Weighed:
    """Where a node stands, and the one sentence that says why."""

    state: NodeState
    reason: str
    passed: int = 0
    weigh_at: datetime | None = None


def weigh_again(node_ids: Iterable[int], *, now: datetime) -> None:
    """Write where the nodes stand. Call it in the transaction that changes what that rests on."""
    ids = sorted(set(node_ids))
    for start in range(0, len(ids), NODES_AT_ONCE):
        with transaction.atomic(savepoint=False):
            _weigh(ids[start : start + NODES_AT_ONCE], now)


def is_over(now: datetime, path: str = "") -> Q:
    """Say of a standing at this path that it no longer holds, whatever it says."""
    lives_for = f"{path}lives_for_days"
    return (
        Q(**{f"{path}weigh_at__lte": now})
        | Q(**{f"{lives_for}__gt": settings.EVIDENCE_DAYS})
        | Q(**{f"{lives_for}__isnull": True})
    )


def sweep(*, now: datetime, at_most: int = 5000) -> int:
    """Weigh the nodes that are due, and those that never were; return how many there were.

    Due are also those that were weighed for another life of evidence than the settings' now.
    """
    due = NodeStanding.objects.filter(weigh_at__lte=now).order_by("weigh_at")
    otherwise = NodeStanding.objects.exclude(lives_for_days=settings.EVIDENCE_DAYS)
    new = Node.objects.filter(standing=None).order_by("pk")
    ids: set[int] = set()
    for each in (due, otherwise.order_by("pk"), new):
        ids |= {*each.values_list("pk", flat=True)[: at_most - len(ids)]}
    weigh_again(ids, now=now)
    return len(ids)


def make_due(resource_class_ids: Iterable[int], *, now: datetime) -> None:
    """Let the next sweep weigh every node of these classes; until then none counts as accepted."""
    standings = NodeStanding.objects.filter(node__resource_class__in=list(resource_class_ids))
    standings.update(weigh_at=now)


def weigh_node(ground: Ground, now: datetime) -> Weighed:
    """Return where a node stands: the worst that can be said of it comes first."""
    if ground.node.excluded_because:
        return Weighed(NodeState.SKIPPED, ground.node.excluded_because)
    proofs = {
        slug: ground.proof(slug, now) for slug in sorted({*ground.required.slugs, *ground.results})
    }
    good = [slug for slug in ground.required.slugs if proofs[slug].is_good]
    state, reason = _bad_news(ground, proofs) or _what_is_missing(ground, proofs, good)
    ends = [
        latest.shown_at + evidence_lives_for() + TICK
        for slug in good
        if (latest := proofs[slug].latest)
    ]
    return Weighed(state, reason, len(good), min(ends, default=None))


def _bad_news(ground: Ground, proofs: Mapping[str, Proof]) -> tuple[NodeState, str] | None:
    reasons = {(each.slug, each.digest): each.reason for each in ground.troubles}
    for slug, proof in proofs.items():
        if proof.is_failure and proof.latest:
            why = reasons.get((slug, proof.latest.digest), "it failed")
            return NodeState.FAILING, f"{slug}: {why}"
    for trouble in ground.troubles:
        if trouble.verdict == Verdict.INCONCLUSIVE:
            return NodeState.SUSPECT, f"{trouble.slug}: {trouble.reason}"
    return None


def _what_is_missing(
    ground: Ground, proofs: Mapping[str, Proof], good: Sequence[str]
) -> tuple[NodeState, str]:
    if not ground.required.slugs:
        return NodeState.UNTESTED, "its class has no acceptance preset: nothing can accept it"
    by_standing: dict[Counts, list[str]] = defaultdict(list)
    for slug in sorted(set(ground.required.slugs) - set(good)):
        by_standing[proofs[slug].evidence.standing].append(slug)
    if not by_standing:
        return NodeState.ACCEPTED, f"all {len(good)} required tests passed, and count"
    if missing := by_standing[Counts.MISSING]:
        return NodeState.UNTESTED, _never_shown(ground, missing)
    if unmet := by_standing[Counts.UNMET]:
        return NodeState.UNTESTED, _of_first(unmet, proofs)
    return NodeState.STALE, _of_first(sorted(chain(*by_standing.values())), proofs)


def _of_first(slugs: Sequence[str], proofs: Mapping[str, Proof]) -> str:
    more = f" ({len(slugs)} tests in all)" if len(slugs) > 1 else ""
    return f"{slugs[0]}: {proofs[slugs[0]].evidence.reason}{more}"


def _never_shown(ground: Ground, missing: Sequence[str]) -> str:
    errored = next((each for each in ground.troubles if each.slug in missing), None)
    if errored is not None:
        return f"{errored.slug} could not be measured: {errored.reason}"
    named = ", ".join(missing[:SLUGS_NAMED])
    more = f" and {len(missing) - SLUGS_NAMED} more" if len(missing) > SLUGS_NAMED else ""
    return f"never run to a conclusion: {named}{more}"


def _weigh(ids: Sequence[int], now: datetime) -> None:
    # The lock makes whoever changes a node meanwhile wait, and us read what they wrote.
    locked = Node.objects.select_for_update(no_key=True).filter(pk__in=ids).order_by("pk")
    grounds = grounds_of(list(locked))
    _drop_answered(grounds.values())
    SetWriter(NodeStanding, NodeStanding.objects.db).insert(
        [_row(ground, weigh_node(ground, now), now) for ground in grounds.values()], end=_REPLACE
    )


def _drop_answered(grounds: Iterable[Ground]) -> None:
    """Forget trouble that something was done about since: the test must run again."""
    answered = [
        trouble.pk
        for ground in grounds
        for trouble in ground.troubles
        for operation in ground.operations
        if operation.performed_at >= trouble.began_at and trouble.slug in operation.stales
    ]
    if answered:
        Trouble.objects.filter(pk__in=answered).delete()


def _row(ground: Ground, weighed: Weighed, now: datetime) -> dict[str, object]:
    return {
        "node_id": ground.node.pk,
        "state": weighed.state.value,
        "reason": storable(weighed.reason, limit=1000),
        "since": now,
        "required": len(ground.required.slugs),
        "passed": weighed.passed,
        "weigh_at": weighed.weigh_at,
        "lives_for_days": settings.EVIDENCE_DAYS,
    }
