"""The batch script of one attempt: strict, every value quoted, nothing of the submitter's leaks."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import ClassVar

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from burnin.hardware_tests.batch import SlurmBatchConfig
from runner.contract import artifacts as contract
from runner.contract.wire import ExitCode

TEMPLATE = Path(__file__).with_name("sbatch.sh.j2")
SLURM_OUTPUT = "slurm.out"

_CONTROL = re.compile(r"[\x00-\x1f\x7f\u0085\u2028\u2029]")
_SHA256 = re.compile(r"[0-9a-f]{64}")


class UnsafeValue(ValueError):
    """A value cannot stand in a batch script. Nothing was rendered."""


@dataclass(frozen=True)
class RunnerLaunch:
    """How the runner is started on the node. Paths are absolute and the same on every node.

    `path` is the node's PATH, `python` an interpreter's name or path. `resource_class` is what the
    node shall be, `gpu_maker` whose GPUs it has, and `container` the image that the tool comes
    from; empty where none matters.
    """

    slug: str
    bundle_path: str
    bundle_sha256: str
    attempt_dir: str
    python: str
    path: str
    resource_class: str = ""
    gpu_maker: str = ""
    container: str = ""

    _PATHS: ClassVar[tuple[str, ...]] = ("bundle_path", "attempt_dir")

    def __post_init__(self) -> None:
        for name in self._PATHS:
            _refuse_bad_path(name, getattr(self, name))
        if not _SHA256.fullmatch(self.bundle_sha256):
            raise UnsafeValue(f"bundle_sha256 is {self.bundle_sha256!r:.80}, not 64 hex digits")

    @property
    def output(self) -> str:
        """Where Slurm writes what the batch script prints."""
        return f"{self.attempt_dir}/{SLURM_OUTPUT}"

    @property
    def context_path(self) -> str:
        return f"{self.attempt_dir}/{contract.CONTEXT}"


def render(config: SlurmBatchConfig, launch: RunnerLaunch) -> str:
    """Return the script. Raises UnsafeValue for a value that would break out of its line."""
    template = _ENVIRONMENT.get_template(TEMPLATE.name)
    return template.render(config=config, launch=launch, bad_bundle=ExitCode.BAD_BUNDLE)


def quote(value: object) -> str:
    """Return one shell word, which sbatch reads the same way in its directives."""
    text = str(value)
    if control := _CONTROL.search(text):
        raise UnsafeValue(f"{text!r:.100} holds {control.group()!r}, which no script may hold")
    if not text:
        raise UnsafeValue("an empty value would shift what follows it")
    return shlex.quote(text)


def _refuse_bad_path(name: str, path: str) -> None:
    if not PurePosixPath(path).is_absolute():
        raise UnsafeValue(f"{name} is {path!r:.100}: it must be an absolute path")
    # Slurm expands %j and the like in --output, and a backslash turns that off.
    if "%" in path or "\\" in path:
        raise UnsafeValue(f"{name} is {path!r:.100}: Slurm would expand its '%' or '\\'")


_ENVIRONMENT = Environment(
    loader=FileSystemLoader(TEMPLATE.parent),
    autoescape=False,  # it is a shell script: `quote` is what keeps a value in its place
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)
_ENVIRONMENT.filters["quote"] = quote
