"""An attempt's directory as a node would have left it, for tests of what reads it."""

import hashlib
import io
import json
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runner.contract import artifacts as contract
from runner.contract.slugs import Slugs
from runner.contract.wire import SCHEMA, AttemptToken

TOKEN = AttemptToken("6f1c2b1e-0d4a-4f51-9a5e-2f3f4d5a6b7c", 1)
NODE = "n1"
HELLO = {"node_name": NODE, "hostname": "node-1", "kernel": "6.1.0", "python": "3.11.2"}


def write_attempt(
    directory: Path,
    *,
    token: AttemptToken = TOKEN,
    results: Mapping[str, str] | None = None,
    **metadata: Any,
) -> Path:
    """Write a complete attempt of hello-world on n1; `metadata` overrides what it says."""
    directory.mkdir(parents=True, exist_ok=True)
    files = {
        contract.STARTED: b"{}",
        contract.STDOUT: b"hello\n",
        contract.STDERR: b"",
        contract.CUSTOM: _archive(results or {"hello.json": json.dumps(HELLO)}),
    }
    for name, content in files.items():
        (directory / name).write_bytes(content)
    said = {
        "schema": SCHEMA,
        "run_id": token.run_id,
        "attempt": token.attempt,
        "slug": Slugs.HELLO_WORLD,
        "runner_version": "source",
        "outcome": "ran",
        "reason": "",
        "started_at": 1_000.0,
        "finished_at": 1_010.0,
        "last_progress_at": 1_010.0,
        "node_names": [NODE],
        "facts": [],
        "tools": {},
        "commands": [],
        "iterations": [{"index": 1, "outcome": "ran", "started_at": 1.0, "finished_at": 2.0}],
        "slurm": {"job_id": "7", "restart_count": 0, "node_list": NODE},
        "artifacts": {name: _facts(content) for name, content in files.items()},
        "truncated": [],
        "params": {},
    }
    (directory / contract.METADATA).write_text(json.dumps({**said, **metadata}))
    return directory


def _archive(results: Mapping[str, str]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, text in results.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return packed.getvalue()


def _facts(content: bytes) -> dict[str, Any]:
    return {"size_bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
