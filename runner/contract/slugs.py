"""The name of every hardware test. One line a test; hub and node both read it here."""

from __future__ import annotations


class Slugs:
    HELLO_WORLD = "single-node.hello-world"
    NODE_HEALTH = "single-node.node-health"
    MEMORY_STRESS = "single-node.memory-stress"
    STORAGE = "single-node.storage"


def all_slugs() -> tuple[str, ...]:
    """Return every slug, in the order they are declared."""
    return tuple(value for name, value in vars(Slugs).items() if name.isupper())
