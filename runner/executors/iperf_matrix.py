"""iperf3 between every ordered pair of the job's nodes, in rounds: no node is in two pairs."""

from __future__ import annotations

from runner.base import BaseRunner
from runner.contract.slugs import Slugs
from runner.endings import CannotRun
from runner.multi_node import why_no_report, workers
from runner.places import places_of_nodes
from runner.workers.names import IPERF_ROUND

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from runner.contract.wire import ExecutionContext
    from runner.workspace import WorkspaceManager

FIRST_PORT = 5201


class IperfMatrix(BaseRunner):
    slug = Slugs.IPERF_MATRIX
    reads = frozenset({"duration_s"})
    tools = (("iperf3", "--version"),)

    def execute(self, context: ExecutionContext, workspace_manager: WorkspaceManager) -> None:
        places = places_of_nodes(workspace_manager, first_port=FIRST_PORT)
        results = workspace_manager.get_custom_artifact_path("iperf/place").parent
        told = [f"duration_s={int(context.params['duration_s'])}", f"results={results}"]
        for pairs in rounds(list(places)):
            words = ",".join(f"{source}>{target}@{places[target]}" for source, target in pairs)
            done = workspace_manager.run_command(
                workers(context, IPERF_ROUND, *told, f"pairs={words}")
            )
            if missing := [pair for pair in pairs if not _left(results, *pair)]:
                pair = "→".join(missing[0])
                raise CannotRun(why_no_report(done, f"{len(missing)} of a round's pairs ({pair})"))
            workspace_manager.say(f"iperf3: {', '.join('→'.join(pair) for pair in pairs)}")


def rounds(names: Sequence[str]) -> Iterator[list[tuple[str, str]]]:
    """Yield disjoint pairs, in circle order, until each ordered pair was there once."""
    seats: list[str | None] = [*names, *([None] if len(names) % 2 else [])]
    for _ in range(len(seats) - 1):
        half = len(seats) // 2
        facing = zip(seats[:half], reversed(seats[half:]))  # noqa: B905 (not in Python 3.8)
        pairs = [(one, other) for one, other in facing if one is not None and other is not None]
        yield pairs
        yield [(other, one) for one, other in pairs]
        seats = [seats[0], seats[-1], *seats[1:-1]]


def _left(results: Path, source: str, target: str) -> bool:
    return (results / f"{source}--{target}.json").exists()
