"""What shares a port or a minute's preparation is marked as one group, and runs in one process."""

from __future__ import annotations

import pytest


@pytest.mark.xdist_group("together")
def test_a_group_is_kept_together(request: pytest.FixtureRequest, worker_id: str) -> None:
    alone = worker_id == "master"

    assert alone or request.node.nodeid.endswith("@together"), (
        "run with --dist loadgroup, and with versions of pytest and pytest-xdist that know groups"
    )
