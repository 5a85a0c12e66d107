"""Which class runs which test. Modules are named, not imported: a run loads only its own."""

from __future__ import annotations

from importlib import import_module

from runner.contract.slugs import Slugs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.base import BaseRunner

EXECUTORS = {
    Slugs.HELLO_WORLD: "runner.executors.hello_world:HelloWorld",
    Slugs.NODE_HEALTH: "runner.executors.node_health:NodeHealth",
    Slugs.MEMORY_STRESS: "runner.executors.memory_stress:MemoryStress",
    Slugs.STORAGE: "runner.executors.storage:Storage",
}


def get_executor(slug: str) -> type[BaseRunner]:
    """Return the class that runs `slug`, which must be a key of EXECUTORS."""
    module, _, name = EXECUTORS[slug].partition(":")
    executor: type[BaseRunner] = getattr(import_module(module), name)
    return executor
