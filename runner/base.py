"""What every executor is."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import ClassVar

    from runner.contract.wire import ExecutionContext
    from runner.workspace import WorkspaceManager


class BaseRunner:
    """Runs one workload and leaves its reports below results/. It parses and judges nothing."""

    slug: ClassVar[str]
    reads: ClassVar[frozenset[str]]  # the params it reads; the hub's test must have the same
    tools: ClassVar[tuple[tuple[str, ...], ...]] = ()  # for each, what asks it for its version

    def execute(self, context: ExecutionContext, workspace_manager: WorkspaceManager) -> None:
        """Run one iteration. Raise CannotRun if it could not be measured."""
        raise NotImplementedError
