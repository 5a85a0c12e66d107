"""What `dcgmi diag` calls Fail: a fault of the hardware, or a subtest that could not be run.

Both end DCGM with the same exit code, so its error categories decide (dcgm_errors.h).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from burnin.hardware_tests.parsers.dcgmi_report import (
    DiagReport,
    DiagStatus,
    DiagTest,
    DiagWarning,
    EntityResult,
)

_SEVERITIES = {1: "MONITOR", 2: "ISOLATE", 4: "TRIAGE", 5: "CONFIG", 6: "RESET"}
_ISOLATE = 2
# SOFTWARE_CONFIG, SOFTWARE_LIBRARY, SOFTWARE_OTHER, INTERNAL_OTHER: whatever their severity.
_COULD_NOT_RUN = frozenset({3, 4, 8, 16})
# SOFTWARE_CUDA, SOFTWARE_EUD: a program that broke, unless DCGM wants the GPU taken out.
_UNLESS_ISOLATED = frozenset({6, 7})

# DCGM 3 gives no categories. These of its level 1 look at the installation, not at a GPU.
_OF_THE_INSTALLATION = frozenset(
    {
        "blacklist",
        "denylist",
        "nvml_library",
        "cuda_main_library",
        "cuda_toolkit_library",
        "permissions_and_os_blocks",
        "persistence_mode",
        "environment_variables",
        "graphics_processes",
    }
)

# What each level adds, under the names that DCGM 3 and 4 agree on once they are folded.
_BY_LEVEL = {
    2: ("memory", "pcie"),
    3: ("diagnostic", "memory_bandwidth", "targeted_stress", "targeted_power"),
    4: ("memtest", "pulse_test"),
}


@dataclass(frozen=True)
class Finding:
    """One subtest at Fail, of the entity that failed it; None where DCGM speaks of all GPUs."""

    test: str
    entity: EntityResult | None
    words: str
    is_fault: bool

    @property
    def where(self) -> str:
        return f"{self.entity.group} {self.entity.index}" if self.entity else "all GPUs"

    def gpus_of(self, count: int) -> Iterable[int]:
        if self.entity is None:
            return range(count)
        return (self.entity.index,) if self.entity.group == "GPU" else ()

    def __str__(self) -> str:
        return f"{self.where}: {self.test}: {self.words}"


def folded(name: str) -> str:
    """Return a subtest's name as DCGM 4 writes it: "GPU Memory" of DCGM 3 is "memory"."""
    words = name.strip().lower().replace(" ", "_")
    return "memory" if words == "gpu_memory" else words


def findings_of(report: DiagReport) -> list[Finding]:
    """Return every Fail of the report, GPU by GPU where DCGM names them."""
    return [each for test in report.tests_at(DiagStatus.FAIL) for each in _findings(test)]


def untested(report: DiagReport, *, level: int, gpu_count: int) -> str:
    """Name what the level holds and the report does not, or says it skipped; "" if nothing."""
    listed = {folded(test.name): test for test in report.tests}
    missing = [
        name
        for added, names in _BY_LEVEL.items()
        for name in names
        if added <= level and name not in listed
    ]
    skipped = [test.name for test in report.tests if _is_incomplete(test, gpu_count)]
    return ", ".join([*missing, *skipped])


def _is_incomplete(test: DiagTest, gpu_count: int) -> bool:
    gpus = [each for each in test.entities if each.group == "GPU"]
    skips = any(each.status is DiagStatus.SKIP for each in test.entities)
    lacks = bool(gpus) and len({each.index for each in gpus}) < gpu_count
    return test.status is DiagStatus.SKIP or skips or lacks


def _findings(test: DiagTest) -> list[Finding]:
    failed = test.entities_at(DiagStatus.FAIL)
    if failed:
        return [_finding(test, each, each.warnings or test.warnings) for each in failed]
    found = _finding(test, None, test.all_warnings)
    # With every GPU at Pass it is the subtest that broke.
    of_hardware = not test.broke and folded(test.name) not in _OF_THE_INSTALLATION
    return [replace(found, is_fault=found.is_fault and of_hardware)]


def _finding(
    test: DiagTest, entity: EntityResult | None, warnings: tuple[DiagWarning, ...]
) -> Finding:
    broke = bool(warnings) and all(map(_is_of_software, warnings))
    words = "; ".join(map(_words, warnings)) or "DCGM gives no reason"
    return Finding(test.name, entity, words, is_fault=not broke)


def _is_of_software(warning: DiagWarning) -> bool:
    isolates = warning.error_severity == _ISOLATE
    category = warning.error_category
    return category in _COULD_NOT_RUN or (category in _UNLESS_ISOLATED and not isolates)


def _words(warning: DiagWarning) -> str:
    severity = _SEVERITIES.get(warning.error_severity or 0, "")
    return f"{warning.text} ({severity})" if severity else warning.text
