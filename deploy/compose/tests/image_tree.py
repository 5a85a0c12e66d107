"""The files of an image, laid out by the COPY lines of the Dockerfile; nothing is built."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from deploy.compose.tests.compose_file import ROOT

DOCKERFILE = ROOT / "deploy" / "Dockerfile"


def copies(target: str) -> list[tuple[list[str], str]]:
    """Return the sources and the destination of each COPY of a target."""
    found: list[tuple[list[str], str]] = []
    stage = ""
    for line in DOCKERFILE.read_text().splitlines():
        words = line.split()
        if words[:1] == ["FROM"]:
            stage = words[-1]
        elif words[:1] == ["COPY"] and stage == target:
            found.append((words[1:-1], words[-1]))
    return found


def lay_out(target: str, place: Path) -> Path:
    """Copy what is in git of the target's files to `place`, as they lie below its workdir."""
    for sources, destination in copies(target):
        if destination.startswith("/"):
            continue  # requirements: the tests' own environment has them
        for source in sources:
            _copy(source, place / destination, into=destination.endswith("/"))
    return place


def _copy(source: str, destination: Path, *, into: bool) -> None:
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", source]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        if "/tests/" in name or name.startswith("fixtures/corpus/"):
            continue  # as .dockerignore says
        inner = Path(name).relative_to(source)
        target = destination / (Path(source).name if into else "") / inner
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, target)
