"""Attempts of the new test as its workload would leave them: a pass, a fault and an error.

They are made up, to be replaced by recordings of real runs once there is a real tool.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Mapping
from itertools import permutations
from typing import Any

from burnin.management.scaffold.names import Names
from runner.contract import artifacts as contract

SIZE_BYTES = 64 << 20
DIGEST = hashlib.sha256(bytes(SIZE_BYTES)).hexdigest()  # of nothing but zeros
OTHER_DIGEST = hashlib.sha256(bytes(SIZE_BYTES - 1) + b"\1").hexdigest()  # one bit changed
NANOSECONDS = 157_000_000
REPEATS = 3
RUN_ID = "5b1f0c3e-6f0e-4c62-9d0f-3a6f1c0b7d21"
BEGAN = 1796000000.0
TOOL = "sha256sum"


def recordings(names: Names) -> dict[str, bytes]:
    """Return every file below fixtures/artifacts/<slug>/, by its path there."""
    files: dict[str, bytes] = {}
    for outcome in ("pass", "fault", "error"):
        for name, content in _attempt(names, outcome).items():
            files[f"{outcome}/{name}"] = content
    return files


def _attempt(names: Names, outcome: str) -> dict[str, bytes]:
    node_names = _node_names(names.stage)
    reports = {} if outcome == "error" else {f"{names.words}.jsonl": _report(names.stage, outcome)}
    error = f"{TOOL} left no report (exit 127): sh: 1: {TOOL}: not found"
    if names.stage == "single-node":
        error = f"{TOOL} is not installed on node {node_names[0]}: not found in PATH=/no-tools"
    started = {
        "schema": 1,
        "run_id": RUN_ID,
        "attempt": 1,
        "slug": names.slug,
        "runner_version": "source",
        "started_at": BEGAN,
        "node_names": node_names,
        "slurm": {"job_id": "101", "restart_count": 0, "node_list": ",".join(node_names)},
    }
    facts = [_facts(number, name) for number, name in enumerate(node_names, start=1)]
    files = {
        contract.STARTED: json.dumps({**started, "facts": facts}).encode(),
        contract.STDOUT: b"".join(reports.values()) if names.stage != "single-node" else b"",
        contract.STDERR: b"",
        contract.CUSTOM: _tar(reports),
    }
    metadata = {
        **started,
        "outcome": "cannot_run" if outcome == "error" else "ran",
        "reason": error if outcome == "error" else "",
        "finished_at": BEGAN + 1,
        "last_progress_at": BEGAN + 1,
        "facts": facts,
        "params": {},
        "tools": {} if outcome == "error" else {TOOL: f"{TOOL} (GNU coreutils) 9.1"},
        "commands": [],
        "iterations": [
            {
                "index": 1,
                "outcome": "cannot_run" if outcome == "error" else "ran",
                "started_at": BEGAN,
                "finished_at": BEGAN + 1,
            }
        ],
        "artifacts": {name: _vouched(content) for name, content in files.items()},
        "truncated": [],
        "spooled": [],
    }
    return {**files, contract.METADATA: (json.dumps(metadata, indent=1) + "\n").encode()}


def _node_names(stage: str) -> list[str]:
    count = {"single-node": 1, "pairwise": 2}.get(stage, 4)
    return [f"node-{number}" for number in range(1, count + 1)]


def _report(stage: str, outcome: str) -> bytes:
    """Return a line for each answer; in a fault the last one is wrong."""
    node_names = _node_names(stage)
    places: list[dict[str, Any]] = [{"node": name} for name in node_names]
    if stage == "single-node":
        places = places * REPEATS
    if stage == "pairwise":
        places = [{"source": one, "node": other} for one, other in permutations(node_names)]
    digests = [DIGEST] * (len(places) - 1) + [OTHER_DIGEST if outcome == "fault" else DIGEST]
    lines = [
        {**place, "nanoseconds": NANOSECONDS + 1_000_000 * number, "digest": digest}
        for number, (place, digest) in enumerate(zip(places, digests, strict=True))
    ]
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def _facts(number: int, name: str) -> dict[str, Any]:
    return {
        "node_name": name,
        "hostname": name,
        "kernel": "6.1.0-18-amd64",
        "cpu_count": 16,
        "memory_bytes": 64 << 30,
        "machine_id": f"{number:032x}",
        "dmi_serial": f"SN-{number:04}",
        "gpu_uuids": [],
    }


def _tar(members: Mapping[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as stream,
        tarfile.open(fileobj=stream, mode="w") as tar,
    ):
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return packed.getvalue()


def _vouched(content: bytes) -> dict[str, Any]:
    return {"size_bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
