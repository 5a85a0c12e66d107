"""How each state, verdict and standing looks: its glyph's class and its word."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Look:
    """`kind` names the class `v-<kind>` of app.css; `rank` is the place in a bar."""

    kind: str
    word: str

    @property
    def css(self) -> str:
        return f"v-{self.kind}"

    @property
    def rank(self) -> int:
        return BAR_ORDER.index(self.kind)


BAR_ORDER = (
    "passed",
    "failed",
    "errored",
    "inconclusive",
    "running",
    "measured",
    "waiting",
    "untested",
    "stale",
    "skipped",
)

_KINDS = {
    # verdicts
    "passed": "passed",
    "failed": "failed",
    "errored": "errored",
    "inconclusive": "inconclusive",
    "measured": "measured",
    "skipped": "skipped",
    # where a node stands
    "accepted": "passed",
    "failing": "failed",
    "suspect": "inconclusive",
    "untested": "untested",
    "stale": "stale",
    "running": "running",
    "waiting": "waiting",
    # where a run is on its way
    "planned": "untested",
    "dispatched": "waiting",
    "submitted": "waiting",
    "finished": "running",
    # jobs
    "active": "running",
    "cancelling": "waiting",
    "incomplete": "errored",
    "cancelled": "skipped",
    # whether evidence counts
    "fresh": "passed",
    "expired": "stale",
    "void": "stale",
    "unverified": "stale",
    "missing": "untested",
    "unmet": "untested",
    # how a part of the product is
    "healthy": "passed",
    "degraded": "errored",
    "silent": "errored",
    "off": "skipped",
    "unknown": "untested",
    "done": "passed",
}


MEANS = {
    "accepted": "the newest result of every test in its class's preset passed",
    "failing": "a test measured the hardware, and a bound does not hold",
    "suspect": "it vanished or hung during a test: nothing is proved, look at it",
    "untested": "a test has no result yet, or could not be measured",
    "stale": "its evidence no longer counts: too old, or the hardware was changed since",
    "passed": "measured, and every bound holds",
    "failed": "measured, and a bound does not hold: counts against the node",
    "errored": "could not be measured: not counted against the node",
    "inconclusive": "the node vanished or hung before there was a result",
    "measured": "measured only: no bound decides",
    "running": "at work now",
    "waiting": "waits for us or in Slurm",
    "skipped": "left out, or not reached because an earlier test did not pass",
}


def look_of(state: str) -> Look:
    """Return the look of a state. One that nobody knows is a dashed ring, never a tick."""
    return Look(_KINDS.get(state, "untested"), state.replace("_", " ").capitalize() or "Unknown")
