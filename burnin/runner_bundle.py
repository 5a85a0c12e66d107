"""Builds the one file that nodes run. Two builds of one source are equal, byte for byte."""

import hashlib
import io
import json
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent / "runner"
EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest a zip can say: when it was built must not show
LIST_TIMEOUT_S = 30
_OURS = re.compile(r'^  File ".*/(runner/[^"]+\.py)", line (\d+)', re.MULTILINE)


class BrokenBundle(Exception):
    """The bundle does not run. Nothing of it may reach a node, and trying again will not help."""


class UnprovenBundle(Exception):
    """The bundle was not asked in time whether it runs. Nothing is known of it; try again."""


@dataclass(frozen=True)
class RunnerBundle:
    path: Path
    sha256: str
    slugs: tuple[str, ...]


def build_runner(destination_dir: Path) -> RunnerBundle:
    """Write `runner-<sha256>.pyz` into the directory and return it, proven to start.

    Raises BrokenBundle or UnprovenBundle, and leaves no bundle, if it does not list its tests.
    """
    content = bundle_bytes(SOURCE)
    sha256 = hashlib.sha256(content).hexdigest()
    destination_dir.mkdir(parents=True, exist_ok=True)
    path = destination_dir / f"runner-{sha256}.pyz"
    torn = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        torn.write_bytes(content)
        torn.chmod(0o644)
        slugs = slugs_of(torn)
        torn.replace(path)
    finally:
        torn.unlink(missing_ok=True)
    return RunnerBundle(path=path, sha256=sha256, slugs=slugs)


def bundle_bytes(source: Path) -> bytes:
    """Return the zip of a `runner` package: no tests, no clock, no modes, one order."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as bundle:
        bundle.writestr(_entry("__main__.py"), (source / "__main__.py").read_bytes())
        for path in sorted(_modules(source)):
            name = f"{source.name}/{path.relative_to(source).as_posix()}"
            bundle.writestr(_entry(name), path.read_bytes())
    return buffer.getvalue()


def slugs_of(bundle: Path) -> tuple[str, ...]:
    """Return the tests that the bundle says it has, asked the way a node would start it."""
    command = [sys.executable, "-I", "-S", str(bundle), "list", "--json"]
    try:
        done = subprocess.run(command, capture_output=True, timeout=LIST_TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired as error:
        raise UnprovenBundle(
            f"the runner did not list its tests within {LIST_TIMEOUT_S} s: try again when this "
            "machine has less to do"
        ) from error
    if done.returncode != 0:
        words = done.stderr.decode(errors="replace")
        raise BrokenBundle(f"the runner does not start: {where_it_broke(words)}")
    return tuple(row["slug"] for row in json.loads(done.stdout))


def where_it_broke(traceback: str) -> str:
    """Return file, line and error of a traceback as one sentence that says what to do."""
    lines = [line for line in traceback.splitlines() if line.strip()]
    error = lines[-1].strip() if lines else "it said nothing"
    places = _OURS.findall(traceback)
    if not places:
        return f"{error}: run `python -m runner list` to see where"
    file, line = places[-1]
    return f"{file}, line {line}: {error}; mend it, then ask again"


def _modules(source: Path) -> Iterator[Path]:
    for path in source.rglob("*.py"):
        if "tests" not in path.relative_to(source).parts:
            yield path


def _entry(name: str) -> zipfile.ZipInfo:
    """Stored, not deflated: compressors differ from one zlib to the next."""
    entry = zipfile.ZipInfo(name, date_time=EPOCH)
    entry.create_system = 3
    entry.external_attr = 0o100644 << 16
    return entry
