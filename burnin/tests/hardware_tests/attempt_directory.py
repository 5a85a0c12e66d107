"""Writes the files of an attempt the way the runner does, and lets a test change them."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from burnin.tests.hardware_tests.toy import TOKEN
from runner.contract import artifacts as contract

Json = dict[str, Any]


def write_attempt(
    directory: Path, custom: Mapping[str, str], *, iterations: int = 1, **changes: Any
) -> Path:
    """Write a whole attempt, sizes and sha256s right; `changes` go into metadata.json."""
    directory.mkdir(parents=True)
    members = {name: _file(name, text) for name, text in custom.items()}
    contents = {
        contract.STARTED: b'{"schema": 1}',
        contract.STDOUT: b"out\n",
        contract.STDERR: b"",
        contract.CUSTOM: tar_of(list(members.values())),
    }
    for name, content in contents.items():
        (directory / name).write_bytes(content)
    write_metadata(directory, {**metadata(contents, iterations), **changes})
    return directory


def write_metadata(directory: Path, document: Json) -> None:
    (directory / contract.METADATA).write_text(json.dumps(document))


def metadata(contents: Mapping[str, bytes], iterations: int) -> Json:
    return {
        "schema": 1,
        "run_id": TOKEN.run_id,
        "attempt": TOKEN.attempt,
        "slug": "single-node.toy",
        "runner_version": "source",
        "outcome": "ran",
        "reason": "",
        "started_at": 100.0,
        "finished_at": 110.5,
        "last_progress_at": 110.0,
        "node_names": ["n1"],
        "facts": [{"node_name": "n1", "hostname": "n1", "kernel": "6.1", "gpu_uuids": []}],
        "tools": {"toy": "toy 1.0"},
        "commands": [{"argv": ["toy"], "exit_code": 0, "duration_s": 1.5, "timed_out": False}],
        "iterations": [
            {"index": index, "outcome": "ran", "started_at": 100.0, "finished_at": 110.0}
            for index in range(1, iterations + 1)
        ],
        "slurm": {"job_id": "7", "restart_count": 0, "node_list": "n1"},
        "artifacts": {name: vouched(content) for name, content in contents.items()},
        "truncated": [],
    }


def vouched(content: bytes) -> Json:
    return {"size_bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}


def read_document(directory: Path) -> Json:
    document: Json = json.loads((directory / contract.METADATA).read_text())
    return document


def put_custom(directory: Path, content: bytes) -> None:
    """Replace the archive, and let metadata.json vouch for it."""
    (directory / contract.CUSTOM).write_bytes(content)
    document = read_document(directory)
    document["artifacts"][contract.CUSTOM] = vouched(content)
    write_metadata(directory, document)


def tar_of(members: list[tuple[tarfile.TarInfo, bytes]]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for info, content in members:
            tar.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def member(name: str, content: bytes = b"", kind: bytes = tarfile.REGTYPE, link: str = "") -> Any:
    info = tarfile.TarInfo(name)
    info.type, info.size, info.linkname = kind, len(content), link
    return info, content


def _file(name: str, text: str) -> tuple[tarfile.TarInfo, bytes]:
    info, content = member(name, text.encode())
    return info, content
