"""Is the node what it should be? Many small checks, each asked for by name."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, field_validator

from burnin.hardware_tests.absolute_path import AbsolutePath
from burnin.hardware_tests.artifacts import ArtifactCollector
from burnin.hardware_tests.base import SingleNodeTest
from burnin.hardware_tests.batch import SlurmBatchConfig, make_single_node_slurm_batch_config
from burnin.hardware_tests.evaluation import NotMeasured
from burnin.hardware_tests.given import given_params
from burnin.hardware_tests.metrics import (
    BaseMetrics,
    Better,
    MetricUnit,
    MetricValue,
    clip_detail,
    metric,
)
from burnin.hardware_tests.params import TestParams
from burnin.hardware_tests.parsers import kernel_log
from burnin.hardware_tests.run_context import RunContext
from burnin.hardware_tests.thresholds.schema import Thresholds
from runner.contract.slugs import Slugs

CheckName = Literal[
    "memory_size", "cpu_count", "filesystems", "disk_space", "clock_offset", "kernel_errors"
]


class NodeHealthParams(TestParams):
    """Which checks, and on which filesystems."""

    checks: tuple[CheckName, ...] = Field(
        default=(
            "memory_size",
            "cpu_count",
            "filesystems",
            "disk_space",
            "clock_offset",
            "kernel_errors",
        ),
        description="Only what is named is looked at; what is named must be readable.",
    )
    filesystems: tuple[AbsolutePath, ...] = Field(
        default=("/tmp",),
        max_length=64,
        description="Directories that must take a file and give it back.",
    )

    @field_validator("checks", "filesystems")
    @classmethod
    def _named_once(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if not names or len(set(names)) != len(names):
            raise ValueError("name at least one, and each only once")
        return names


class NodeHealthMetrics(BaseMetrics):
    """In operator order. None: nobody asked for the check."""

    kernel_errors: int | None = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="Kernel errors since start"
    )
    unwritable_filesystems: int | None = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="Filesystems that cannot be written"
    )
    disk_space: MetricValue = metric(
        MetricUnit.PERCENT, better=Better.HIGHER, label="Fullest filesystem, free space"
    )
    clock_offset: MetricValue = metric(
        MetricUnit.MILLISECONDS,
        better=Better.LOWER,
        label="Clock offset against the login host",
        plausible=(1, 900),
    )
    memory_size: MetricValue = metric(
        MetricUnit.GIB, better=Better.HIGHER, label="Memory", plausible=(16, 15_000)
    )
    cpu_count: int | None = metric(MetricUnit.COUNT, better=Better.EXACT, label="CPUs")


class NodeHealthThresholds(Thresholds):
    """Limits in each metric's unit. The values are in thresholds.yaml."""

    kernel_errors: int = Field(ge=0)
    unwritable_filesystems: int = Field(ge=0)
    disk_space: float = Field(gt=0, lt=100)
    clock_offset: float = Field(gt=0)
    memory_size: float = Field(gt=0)
    cpu_count: int = Field(ge=1)


class _FromNode(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, allow_inf_nan=False)


class _MemorySize(_FromNode):
    size_bytes: int = Field(alias="bytes", gt=0)


class _CpuCount(_FromNode):
    count: int = Field(gt=0)


class _ClockOffset(_FromNode):
    offset_s: float


class _KernelErrors(_FromNode):
    lines: list[str]
    count: int = Field(ge=0)


class _Filesystem(_FromNode):
    path: str
    writable: bool
    error: str | None = None
    free_bytes: int | None = Field(default=None, ge=0)
    size_bytes: int | None = Field(default=None, ge=0)


Found = tuple[float, str]  # the metric's value in its unit, and what and where


def _memory(found: _MemorySize) -> Found:
    return found.size_bytes / 1024**3, ""


def _cpus(found: _CpuCount) -> Found:
    return found.count, ""


def _clock(found: _ClockOffset) -> Found:
    return abs(found.offset_s) * 1e3, "the node is " + ("ahead" if found.offset_s > 0 else "behind")


def _kernel(found: _KernelErrors) -> Found:
    if found.count < len(found.lines) or (found.count and not found.lines):
        raise NotMeasured(f"{found.count} kernel errors counted, {len(found.lines)} listed")
    return found.count, "; ".join(kernel_log.record_of(line).message for line in found.lines)


def _unwritable(found: list[_Filesystem]) -> Found:
    bad = [each for each in found if not each.writable]
    return len(bad), "; ".join(f"{each.path}: {each.error or 'no reason given'}" for each in bad)


def _free_space(found: list[_Filesystem]) -> Found:
    shares = {each.path: _free_percent(each) for each in found}
    fullest = min(shares, key=lambda path: shares[path])
    return shares[fullest], fullest


def _free_percent(filesystem: _Filesystem) -> float:
    free, size = filesystem.free_bytes, filesystem.size_bytes
    if free is not None and size and free <= size:
        return 100 * free / size
    if filesystem.writable:
        raise NotMeasured(
            f"the free space of {filesystem.path} could not be read: {free} of {size} bytes"
        )
    return 0  # nothing can be put where nothing can be written


@dataclass(frozen=True)
class HealthCheck:
    """Where node-health.json has it, what shape it has there, and which metric it becomes."""

    section: str
    shape: TypeAdapter[Any]
    metric: str
    read: Callable[[Any], Found]


_FILESYSTEMS = TypeAdapter(Annotated[list[_Filesystem], Field(min_length=1)])


class NodeHealthCheckTest(SingleNodeTest):
    """A further small check is one metric, one limit and one entry in `checks`."""

    slug = Slugs.NODE_HEALTH
    display_name = "Node health"
    params_class = NodeHealthParams
    metrics_class = NodeHealthMetrics
    thresholds_class = NodeHealthThresholds

    checks: ClassVar[Mapping[str, HealthCheck]] = MappingProxyType(
        {
            "memory_size": HealthCheck(
                "memory_size", TypeAdapter(_MemorySize), "memory_size", _memory
            ),
            "cpu_count": HealthCheck("cpu_count", TypeAdapter(_CpuCount), "cpu_count", _cpus),
            "filesystems": HealthCheck(
                "filesystems", _FILESYSTEMS, "unwritable_filesystems", _unwritable
            ),
            "disk_space": HealthCheck("filesystems", _FILESYSTEMS, "disk_space", _free_space),
            "clock_offset": HealthCheck(
                "clock_offset", TypeAdapter(_ClockOffset), "clock_offset", _clock
            ),
            "kernel_errors": HealthCheck(
                "kernel_errors", TypeAdapter(_KernelErrors), "kernel_errors", _kernel
            ),
        }
    )

    def make_batch_config(self, context: RunContext) -> SlurmBatchConfig:
        return make_single_node_slurm_batch_config(context, gpus_per_node=0)

    def extract_metrics(self, artifact_collector: ArtifactCollector) -> NodeHealthMetrics:
        """Read each check that was asked for; one that could not be read spoils the whole."""
        report = json.loads(artifact_collector.get_custom_file("node-health.json").read_text())
        asked = given_params(artifact_collector.metadata, NodeHealthParams)
        values: dict[str, float | None] = dict.fromkeys(NodeHealthMetrics.declarations())
        details: dict[str, str] = {}
        for name in asked.checks:
            check = self.checks[name]
            values[check.metric], detail = check.read(_section(report, name, check))
            if detail:
                details[check.metric] = clip_detail(detail)
        return NodeHealthMetrics.model_validate({**values, "details": details})


def _section(report: Any, name: str, check: HealthCheck) -> Any:
    """Return what the node found, in its shape. Raises NotMeasured, naming the check."""
    found = report.get(check.section) if isinstance(report, dict) else None
    if found is None:
        raise NotMeasured(f"the check {name} was asked for, but node-health.json lacks it")
    if isinstance(found, dict) and found.get("error"):
        raise NotMeasured(f"the check {name} could not be read: {found['error']}")
    try:
        return check.shape.validate_python(found)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(step) for step in first["loc"]) or check.section
        raise NotMeasured(
            f"the check {name} cannot be used: {where} in node-health.json: {first['msg']}"
        ) from None
