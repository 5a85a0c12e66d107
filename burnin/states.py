"""What a run can end as. Whether it ran and whether the hardware passed are two axes."""

from enum import StrEnum


class Verdict(StrEnum):
    """The judgement of one run. Only `failed` counts against the hardware."""

    PASSED = "passed"
    FAILED = "failed"
    ERRORED = "errored"
    INCONCLUSIVE = "inconclusive"
    SKIPPED = "skipped"
    MEASURED = "measured"


class Cause(StrEnum):
    """Where the reason for a verdict lies."""

    NONE = ""
    HARDWARE = "hardware"
    TEST = "test"  # tool, params, parse
    INFRASTRUCTURE = "infrastructure"  # Slurm, store, SSH
