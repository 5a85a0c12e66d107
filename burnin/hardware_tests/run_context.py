"""Where and for how long one run is asked to run."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from burnin.hardware_tests.params import TestParams
from runner.contract.wire import AttemptToken, margin_s

LONGEST_LIFE_MINUTES = 7 * 24 * 60  # an upload URL lives no longer
DEADLINE_MARGIN_MINUTES = 30
MOST_ITERATIONS = 1000

_PARTITION = re.compile(r"[A-Za-z0-9_.-]+")
_NODE_NAME = re.compile(r"[A-Za-z0-9_.-]+")


class BadRunContext(ValueError):
    """What was asked for cannot be run. Nothing was submitted; the message says what to change."""


@dataclass(frozen=True)
class RunContext:
    """One attempt's place and time. Definitions read `num_nodes`, never `nodes`.

    `nodelist` holds Slurm node names, in order; None leaves the choice to Slurm. With a nodelist
    `nodes` is forced to 1 and its length counts. `max_wait_minutes` is how long it may stay queued.
    `gpus_per_node` is what a node of the resource class has, whether the test needs them or not.
    """

    token: AttemptToken
    partition: str
    timeout_minutes: int
    nodelist: tuple[str, ...] | None = None
    nodes: int = 1
    iterations: int = 1
    max_wait_minutes: int = 24 * 60
    gpus_per_node: int = 0

    def __post_init__(self) -> None:
        _check_partition(self.partition)
        _check_count("the timeout in minutes", self.timeout_minutes, LONGEST_LIFE_MINUTES)
        _check_count("the wait in minutes", self.max_wait_minutes, LONGEST_LIFE_MINUTES)
        _check_count("the number of nodes", self.nodes, 100_000)
        _check_count("the number of iterations", self.iterations, MOST_ITERATIONS)
        if self.nodelist is not None:
            _check_nodelist(self.nodelist)
            object.__setattr__(self, "nodes", 1)
        if self.deadline_minutes > LONGEST_LIFE_MINUTES:
            raise BadRunContext(
                f"a timeout of {self.timeout_minutes} minutes, a wait of {self.max_wait_minutes} "
                f"and {DEADLINE_MARGIN_MINUTES} for the end make more than 7 days: shorten one"
            )

    @property
    def num_nodes(self) -> int:
        return self.nodes if self.nodelist is None else len(self.nodelist)

    @property
    def deadline_minutes(self) -> int:
        """Return minutes from submission after which Slurm need not start the job any more."""
        return self.max_wait_minutes + self.timeout_minutes + DEADLINE_MARGIN_MINUTES


def refuse_too_short(
    context: RunContext, *, slug: str, params: TestParams, timed_phases: int
) -> None:
    """Raise BadRunContext if the runner would have to end the workload before its durations do."""
    duration_s, limit_s = int(params.resolved().get("duration_s", 0)), context.timeout_minutes * 60
    times = context.iterations * timed_phases
    if times * duration_s >= limit_s - margin_s(limit_s):
        each = f" ({timed_phases} in each iteration)" if timed_phases > 1 else ""
        raise BadRunContext(
            f"{slug} cannot end in time: {times} x duration_s {duration_s}{each} does not "
            f"fit into timeout_minutes {context.timeout_minutes}, whose last {margin_s(limit_s):g} "
            "s are for the results; raise it, or shorten the duration"
        )


def _check_partition(partition: str) -> None:
    if not _PARTITION.fullmatch(partition):
        raise BadRunContext(
            f"{partition!r:.80} is no partition name: letters, digits, '_', '-' and '.' only"
        )


def _check_count(what: str, value: object, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise BadRunContext(f"{what} must be a whole number, not {value!r:.80}")
    if not 1 <= value <= most:
        raise BadRunContext(f"{what} must be between 1 and {most}, not {value}")


def _check_nodelist(nodelist: tuple[str, ...]) -> None:
    if not nodelist:
        raise BadRunContext("the node list is empty: name a node, or leave the list out")
    for name in nodelist:
        if not _NODE_NAME.fullmatch(name):
            raise BadRunContext(f"{name!r:.80} is no node name: expand host lists first")
    if twice := [name for name, count in Counter(nodelist).items() if count > 1]:
        raise BadRunContext(f"the node list names {', '.join(twice[:5])} more than once")
