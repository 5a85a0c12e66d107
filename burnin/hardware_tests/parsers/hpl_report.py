"""What a run of HPL or HPL-MxP says."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from burnin.hardware_tests.parsers.number import amount
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind


@dataclass(frozen=True)
class Residual:
    """A scaled residual and what HPL says of it: no finite number only where it says FAILED."""

    value: float
    passed: bool


@dataclass(frozen=True)
class HplResult:
    """One problem solved. `gflops` is of all processes together, in 1e9 operations a second.

    `gflops_per_gpu` and `lu_gflops` (HPL-MxP: without the refinement) are None where not printed,
    as by rocHPL-MxP. Without residuals the result is unchecked, which is neither passed nor failed.
    """

    variant: str
    n: int
    nb: int
    p: int
    q: int
    time_s: float | None
    gflops: float
    gflops_per_gpu: float | None
    lu_gflops: float | None
    residuals: tuple[Residual, ...]

    @property
    def passed(self) -> bool | None:
        """Whether every residual check passed; None if there was none."""
        return all(residual.passed for residual in self.residuals) if self.residuals else None

    def with_residual(self, residual: Residual) -> HplResult:
        return replace(self, residuals=(*self.residuals, residual))


@dataclass(frozen=True)
class HplReport:
    """A run that reached its end. `tests` counts what HPL counts, the skipped ones too."""

    variant: str
    results: tuple[HplResult, ...]
    tests: int
    passed: int
    failed: int
    unchecked: int
    skipped: int
    warnings: tuple[str, ...]

    @property
    def all_passed(self) -> bool:
        """Nothing failed, nothing was skipped, nothing went unchecked."""
        return self.passed == self.tests > 0

    @property
    def best(self) -> HplResult | None:
        """The fastest result whose residuals passed."""
        passed = [result for result in self.results if result.passed]
        return max(passed, key=lambda result: result.gflops, default=None)


def residual_of(word: str, verdict: str) -> Residual:
    """Read a residual; one that is no finite number must be called FAILED."""
    if verdict == "FAILED" and word.lstrip("+-").lower() in ("nan", "inf", "infinity"):
        return Residual(math.nan if "nan" in word.lower() else math.inf, passed=False)
    if word.lstrip("+-").lower() in ("nan", "inf", "infinity"):
        raise ParseError(
            f"HPL says {verdict} of a residual that is {word}", kind=RefusalKind.CONTRADICTORY
        )
    return Residual(amount(word, "residual"), verdict == "PASSED")
