"""What a simulated node does with a hello-world."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from burnin.satellite.messages import (
    JobOrder,
)
from burnin.slurm.fake import Workload
from burnin.tests.attempts import HELLO, write_attempt
from runner.contract.wire import AttemptToken


def hello(order: JobOrder, *, duration_s: float = 10, **metadata: Any) -> Workload:
    """A hello-world that passes on the node it was sent to, or as `metadata` says."""
    node = json.loads(order.context)["node_names"][0]
    files = _files(order.run_id, order.attempt, node, json.dumps(metadata))
    return Workload(duration_s=duration_s, files=files)


def failing(order: JobOrder) -> Workload:
    """A hello-world whose node says that it is another one: a measured fault."""
    passed = hello(order)
    wrong = _files(order.run_id, order.attempt, "n1", "{}", "another")
    node = json.loads(order.context)["node_names"][0]
    return Workload(
        duration_s=passed.duration_s,
        state="FAILED",
        exit_code="1:0",
        files=wrong if node == "n1" else _files(order.run_id, order.attempt, node, "{}", "another"),
    )


@cache
def _files(
    run_id: str, attempt: int, node: str, metadata: str, says: str = ""
) -> Mapping[str, bytes]:
    with TemporaryDirectory() as directory:
        write_attempt(
            Path(directory),
            token=AttemptToken(run_id, attempt),
            results={"hello.json": json.dumps({**HELLO, "node_name": says or node})},
            **{"node_names": [node], **json.loads(metadata)},
        )
        return {path.name: path.read_bytes() for path in Path(directory).iterdir()}
