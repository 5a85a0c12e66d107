"""The canonical reference."""

from __future__ import annotations

import json
import os
from pathlib import Path

from runner.contract.slugs import Slugs
from runner.tests.given import context_told, run_attempt


def test_it_says_where_it_ran(tmp_path: Path) -> None:
    run_attempt(tmp_path, context_told(slug=Slugs.HELLO_WORLD), env={"SLURMD_NODENAME": "n1"})

    greeting = json.loads((tmp_path / "results/hello.json").read_text())
    assert sorted(greeting) == ["hostname", "kernel", "node_name", "python"]
    assert greeting["node_name"] == "n1"
    assert greeting["kernel"] == os.uname().release
    assert (tmp_path / "stdout.txt").read_text() == "Hello from n1.\n"
