"""The canned attempts: the real runner and the real tools, recorded once."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from burnin.hardware_tests.artifacts import MissingArtifact, open_artifacts, read_metadata
from burnin.hardware_tests.evaluation import EvaluationResult, EvaluationStatus, NotMeasured
from burnin.hardware_tests.parsers.refusal import ParseError
from burnin.hardware_tests.registry import get_test_class
from burnin.hardware_tests.unpack import TornArtifact
from burnin.tests.hardware_tests.single_node.attempts import CANNED, canned_attempt, judged
from runner.contract.artifacts import CUSTOM
from runner.contract.slugs import Slugs, all_slugs
from runner.contract.wire import AttemptToken

OUR_TOOLS = {Slugs.MEMORY_STRESS: "stressapptest", Slugs.STORAGE: "fio"}


def verdict_on(slug: str, name: str) -> EvaluationResult:
    with canned_attempt(slug, name) as collector:
        return judged(slug, get_test_class(slug)().measure(collector))


@pytest.mark.parametrize("slug", all_slugs())
def test_the_recorded_pass_passes(slug: str) -> None:
    result = verdict_on(slug, "pass")

    assert result.passed, result.reason


@pytest.mark.parametrize(
    ("slug", "reason"),
    [
        (Slugs.HELLO_WORLD, "Nodes that answered 0, must be exactly 1 (node-1: "),
        (
            Slugs.NODE_HEALTH,
            "Filesystems that cannot be written 1, allows at most 0 (/sys: Permission denied)",
        ),
        (Slugs.MEMORY_STRESS, "Memory errors 1, allows at most 0 (miscompare on CPU 0(0x1) at 0x"),
        (
            Slugs.STORAGE,
            "Phases with I/O errors 1, allows at most 0 "
            "(/tmp: verify: error 84, data came back changed)",
        ),
    ],
)
def test_the_recorded_fault_fails_and_says_what_and_where(slug: str, reason: str) -> None:
    result = verdict_on(slug, "fault")

    assert result.status is EvaluationStatus.FAILED
    assert result.reason.startswith(reason)


@pytest.mark.parametrize("slug", all_slugs())
def test_the_recorded_error_is_no_measurement(slug: str) -> None:
    with pytest.raises((MissingArtifact, NotMeasured, ParseError)):
        verdict_on(slug, "error")


@pytest.mark.parametrize(("slug", "tool"), OUR_TOOLS.items())
def test_a_missing_tool_is_named_by_the_runner(slug: str, tool: str) -> None:
    with canned_attempt(slug, "error") as collector:
        assert collector.metadata.outcome == "cannot_run"
        assert collector.metadata.reason.startswith(f"{tool} is not installed on node node-1")


@pytest.mark.parametrize(("slug", "tool"), OUR_TOOLS.items())
def test_the_result_has_a_fingerprint_of_the_tool_that_measured(slug: str, tool: str) -> None:
    with canned_attempt(slug, "pass") as collector:
        metrics = get_test_class(slug)().measure(collector)

        assert collector.metadata.tools[tool]
        assert metrics.fingerprint


def test_a_clock_that_nobody_told_spoils_the_whole() -> None:
    with pytest.raises(NotMeasured, match="the check clock_offset could not be read: "):
        verdict_on(Slugs.NODE_HEALTH, "error")


@pytest.mark.parametrize(
    "path", sorted(CANNED.glob("*/*/*.json")), ids=lambda path: "-".join(path.parts[-3:])
)
def test_a_recording_gives_away_no_machine(path: Path) -> None:
    document: dict[str, Any] = json.loads(path.read_text())

    assert {fact["hostname"] for fact in document["facts"]} <= {"node-1"}
    assert {fact["kernel"] for fact in document["facts"]} <= {"6.1.0-18-amd64"}


@pytest.mark.parametrize("slug", all_slugs())
@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_a_recording_whose_archive_is_cut_is_refused(
    tmp_path: Path, slug: str, share: float
) -> None:
    attempt = tmp_path / "attempt"
    shutil.copytree(CANNED / slug / "pass", attempt)
    archive = attempt / CUSTOM
    archive.write_bytes(archive.read_bytes()[: int(archive.stat().st_size * share)])
    metadata = read_metadata(attempt)

    with (
        pytest.raises(TornArtifact, match=rf"{CUSTOM} has \d+ bytes, metadata\.json says \d+"),
        open_artifacts(attempt, AttemptToken(metadata.run_id, metadata.attempt)),
    ):
        pass
