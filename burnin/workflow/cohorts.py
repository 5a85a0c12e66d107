"""Which nodes share a run: one run a node, or one for all nodes of the job that are still in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

LEAST_NODES = 2
_ALONE = "single-node."
_PAIR = "pairwise."


def is_shared(slug: str) -> bool:
    """Say whether one run of this test takes all its nodes at once."""
    return not slug.startswith(_ALONE)


def why_unshareable(slug: str, node_count: int) -> str:
    """Say why this many nodes cannot share a run of the test; "" when they can."""
    if not is_shared(slug):
        return ""
    if node_count < LEAST_NODES:
        return f"{slug:.80} needs at least {LEAST_NODES} nodes, and one is named: name more"
    if slug.startswith(_PAIR) and node_count > LEAST_NODES:
        return (
            f"{slug:.80} runs on one pair of nodes, and {node_count} are named: name two of them; "
            "all pairs of a group cannot be run yet"
        )
    return ""


def shares(slug: str, node_ids: Sequence[int], unfit: Mapping[int, str]) -> list[list[int]]:
    """Return the nodes of each run. Who cannot take part in a shared run stands alone, listed."""
    if not is_shared(slug):
        return [[node_id] for node_id in node_ids]
    fit = [node_id for node_id in node_ids if node_id not in unfit]
    alone = [[node_id] for node_id in node_ids if node_id in unfit]
    return [fit, *alone] if fit else alone


def why_skipped(slug: str, node_ids: Sequence[int], unfit: Mapping[int, str]) -> str:
    """Say why a run on these nodes cannot be sent; "" when it can."""
    for node_id in node_ids:
        if node_id in unfit:
            return unfit[node_id]
    return too_few(slug) if is_shared(slug) and len(node_ids) < LEAST_NODES else ""


def too_few(slug: str) -> str:
    return f"{slug} needs at least {LEAST_NODES} nodes, and only one is left"
