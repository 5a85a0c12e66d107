"""What node-health may be asked to look at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field, field_validator, model_validator

from burnin.hardware_tests.absolute_path import AbsolutePath
from burnin.hardware_tests.params import TestParams
from runner.contract.health import COMPONENTS, SECTION_OF, USUAL

if TYPE_CHECKING:
    CheckName = str
    ComponentName = str
else:
    CheckName = Literal[tuple(SECTION_OF)]
    ComponentName = Literal[COMPONENTS]


class NodeHealthParams(TestParams):
    """Which checks, on which filesystems, and how long counters of errors are watched."""

    at_least = frozenset({"checks", "filesystems", "watch_s"})

    checks: tuple[CheckName, ...] = Field(
        default=USUAL,
        description="Only what is named is looked at; what is named must be readable.",
    )
    filesystems: tuple[AbsolutePath, ...] = Field(
        default=("/tmp",),
        max_length=64,
        description="Directories that must take a file and give it back.",
    )
    watch_s: int = Field(
        default=0,
        ge=0,
        le=3600,
        description="Seconds, at least, between the two readings of each counter of errors.",
    )

    golden: dict[str, dict[ComponentName, str]] = Field(
        default_factory=dict,
        description="By resource class, by check: the words that each of its nodes must tell.",
    )

    @property
    def expected(self) -> dict[ComponentName, str]:
        """Return what the node must tell. Raises ValueError where that depends on its class."""
        if len(self.golden) > 1:
            raise ValueError(f"golden is of several classes: {', '.join(sorted(self.golden))}")
        return next(iter(self.golden.values()), {})

    def on(self, resource_class: str, checks: tuple[CheckName, ...]) -> NodeHealthParams:
        """Return the params with other checks, and what is golden for this class only."""
        golden = (
            {resource_class: self.golden[resource_class]} if resource_class in self.golden else {}
        )
        return self.model_copy(update={"checks": checks, "golden": golden})

    @field_validator("checks", "filesystems")
    @classmethod
    def _named_once(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if not names or len(set(names)) != len(names):
            raise ValueError("name at least one, and each only once")
        return names

    @model_validator(mode="after")
    def _golden_is_asked_for(self) -> NodeHealthParams:
        for name, expected in self.golden.items():
            if unread := sorted(set(expected) - set(self.checks)):
                raise ValueError(
                    f"golden of {name} names {', '.join(unread)}: add it to the checks"
                )
        return self
