"""Attempts of tests on GPUs: what the node said of itself stands beside what the tool printed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from burnin.hardware_tests.artifacts import ArtifactCollector
from burnin.tests.hardware_tests.single_node.attempts import made_up_attempt


def gpu_attempt(
    directory: Path,
    files: Mapping[str, str],
    *,
    gpus: int,
    params: Mapping[str, Any],
    resource_class: str = "h100-sxm5-8x",
) -> ArtifactCollector:
    node = {"gpu_count": gpus, "resource_class": resource_class, "container": ""}
    return made_up_attempt(directory, {**files, "gpu-node.json": json.dumps(node)}, params=params)
