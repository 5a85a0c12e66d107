from __future__ import annotations

from typing import Any

from burnin.slurm.parse_hostlists import HostLists
from burnin.tests.hardware_tests.parsers.corpus.comparison import Whole


def as_expected(lists: HostLists) -> dict[str, Any]:
    return {"expand": Whole({line: list(names) for line, names in lists.expanded.items()})}
