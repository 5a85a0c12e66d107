"""Says which RDMA ports this node has."""

from __future__ import annotations

import json
from pathlib import Path

from runner.facts import root_of
from runner.rdma import ports_below
from runner.workers.words import node_name, split_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str]) -> int:
    """Write DIR/<node>.json. `root=/ results=DIR`."""
    asked = split_words(arguments)
    ports = ports_below(root_of(asked["root"], node_name()))
    Path(asked["results"], f"{node_name()}.json").write_text(json.dumps(ports), encoding="utf-8")
    return 0
