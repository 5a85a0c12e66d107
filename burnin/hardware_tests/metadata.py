"""What the runner says of an attempt (`metadata.json`, schema 1). Unknown fields are tolerated."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Epoch = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class _FromNode(BaseModel):
    # A newer runner may say more; what this reader needs it still checks.
    model_config = ConfigDict(frozen=True, extra="ignore", strict=True, populate_by_name=True)


class NodeFacts(_FromNode):
    """What one node said of itself. None: it could not be read."""

    node_name: str
    hostname: str
    kernel: str
    cpu_count: int | None = None
    memory_bytes: int | None = None
    machine_id: str | None = None
    dmi_serial: str | None = None
    gpu_uuids: tuple[str, ...] = ()


class CommandRecord(_FromNode):
    argv: tuple[str, ...]
    exit_code: int
    duration_s: Seconds
    timed_out: bool


class IterationRecord(_FromNode):
    index: int = Field(ge=1)
    outcome: str
    started_at: Epoch
    finished_at: Epoch


class SlurmFacts(_FromNode):
    job_id: str = ""
    restart_count: int = 0
    node_list: str = ""


class ArtifactFacts(_FromNode):
    size_bytes: int = Field(ge=0)
    sha256: Sha256


class HardwareTestMetadata(_FromNode):
    """The runner's last word. It judges nothing but whether the test ran."""

    __test__: ClassVar[bool] = False

    schema_: Literal[1] = Field(alias="schema")
    run_id: str
    attempt: int = Field(ge=1)
    slug: str
    runner_version: str
    outcome: Literal["ran", "cannot_run", "timed_out", "interrupted"]
    reason: str
    started_at: Epoch
    finished_at: Epoch
    last_progress_at: Epoch
    node_names: tuple[str, ...]
    facts: tuple[NodeFacts, ...]
    tools: dict[str, str] = Field(default_factory=dict)
    commands: tuple[CommandRecord, ...] = ()
    iterations: tuple[IterationRecord, ...]
    slurm: SlurmFacts
    artifacts: dict[str, ArtifactFacts]
    truncated: tuple[str, ...] = ()
    container: str = Field(default="", description="The image of the site, as it was given.")
    params: dict[str, Any] | None = Field(
        default=None, description="The resolved params the node was given, if it says so."
    )
