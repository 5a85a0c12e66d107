"""What `dcgmi diag` says of each test, and of each GPU in it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind


class DiagStatus(StrEnum):
    """DCGM's word. Skipped is not passed: it was not tested."""

    PASS = "pass"
    WARN = "warn"
    FAIL = "fail"
    SKIP = "skip"


_WORST_FIRST = (DiagStatus.FAIL, DiagStatus.WARN, DiagStatus.PASS, DiagStatus.SKIP)


def status_of(word: str) -> DiagStatus:
    """Read Pass, PASS, Fail, Warn, Skip; raise ParseError on any other word."""
    try:
        return DiagStatus(word.strip().lower())
    except ValueError:
        raise ParseError(
            f"dcgmi diag gives the status '{word.strip():.40}'", kind=RefusalKind.MALFORMED
        ) from None


def worst(statuses: Iterable[DiagStatus]) -> DiagStatus | None:
    """Return the status that decides; a pass beside skips is a pass. None for none."""
    found = set(statuses)
    return next((status for status in _WORST_FIRST if status in found), None)


@dataclass(frozen=True)
class DiagWarning:
    """A finding in DCGM's words. The numbers are DCGM's codes, None where it prints none."""

    text: str
    error_id: int | None = None
    error_category: int | None = None
    error_severity: int | None = None


@dataclass(frozen=True)
class EntityResult:
    """What one GPU (or CPU, or switch) got."""

    group: str
    index: int
    status: DiagStatus
    warnings: tuple[DiagWarning, ...] = ()
    info: tuple[str, ...] = ()


@dataclass(frozen=True)
class DiagTest:
    """One test. `entities` is empty where DCGM speaks of all of them together.

    `status` may be FAIL with every entity at PASS: then the test itself broke, not a GPU.
    """

    category: str
    name: str
    status: DiagStatus
    entities: tuple[EntityResult, ...]
    warnings: tuple[DiagWarning, ...]
    info: tuple[str, ...]

    @property
    def all_warnings(self) -> tuple[DiagWarning, ...]:
        of_entities = (warning for entity in self.entities for warning in entity.warnings)
        return (*self.warnings, *of_entities)

    @property
    def broke(self) -> bool:
        """Whether the test failed as such: every GPU passed or was skipped."""
        good = {DiagStatus.PASS, DiagStatus.SKIP}
        return (
            self.status is DiagStatus.FAIL
            and bool(self.entities)
            and all(entity.status in good for entity in self.entities)
        )

    def entities_at(self, status: DiagStatus) -> tuple[EntityResult, ...]:
        return tuple(entity for entity in self.entities if entity.status is status)


@dataclass(frozen=True)
class DiagReport:
    """A diagnostic that ran. `root` is the key of its JSON document, None for the text table."""

    root: str | None
    version: str | None
    driver_version: str | None
    gpu_count: int | None
    tests: tuple[DiagTest, ...]

    @property
    def verdict(self) -> DiagStatus:
        """FAIL or WARN if any test is; SKIP if nothing at all was tested."""
        return worst(test.status for test in self.tests) or DiagStatus.SKIP

    def tests_at(self, status: DiagStatus) -> tuple[DiagTest, ...]:
        return tuple(test for test in self.tests if test.status is status)


def refuse_contradictions(report: DiagReport) -> None:
    """Raise ParseError where nothing was run, or a test denies what its GPUs say."""
    if not report.tests:
        raise ParseError("dcgmi diag ran no test", kind=RefusalKind.NO_DATA)
    for test in report.tests:
        entities = worst(entity.status for entity in test.entities)
        if test.status in (DiagStatus.PASS, DiagStatus.SKIP) and entities in (
            DiagStatus.FAIL,
            DiagStatus.WARN,
        ):
            raise ParseError(
                f"dcgmi diag says {test.status} of {test.name:.60} and {entities} of a GPU in it",
                kind=RefusalKind.CONTRADICTORY,
            )
