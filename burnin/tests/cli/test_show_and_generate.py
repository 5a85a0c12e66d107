"""What the command line tells without a cluster."""

import json
from pathlib import Path

import pytest

from burnin.hardware_tests.registry import get_test_class
from burnin.tests.attempts import TOKEN, write_attempt
from burnin.tests.cli.conftest import Hardware
from burnin.tests.hardware_tests.single_node.attempts import (
    canned_attempt,
    most_calibrated,
    uncalibrated,
)
from runner.contract.slugs import Slugs, all_slugs

CANNED = Path(__file__).resolve().parents[3] / "fixtures" / "artifacts"


def test_list_names_every_test(hardware_tests: Hardware) -> None:
    said = hardware_tests("list")

    lines = said.stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(all_slugs())
    assert [" ".join(line.split()[1:3]) for line in lines if "single-node.gpu-burn" in line] == [
        "16 min"
    ]


@pytest.mark.parametrize("slug", all_slugs())
def test_schema_is_json_with_params_metrics_and_thresholds(
    hardware_tests: Hardware, slug: str
) -> None:
    described = json.loads(hardware_tests("schema", slug).stdout)

    assert described["slug"] == slug
    assert {"params", "metrics", "thresholds"} <= described.keys()


def test_generate_sbatch_shows_directives_or_the_whole_script(hardware_tests: Hardware) -> None:
    asked = ("generate-sbatch", "single-node.storage", "--partition", "main", "--timeout", "9")

    directives = hardware_tests(*asked, "--nodelist", "n7").stdout.splitlines()
    script = hardware_tests(*asked, "--nodelist", "n7", "--show-script").stdout

    assert "#SBATCH --nodelist=n7" in directives
    assert all(line.startswith("#SBATCH") for line in directives)
    assert script.startswith("#!/bin/bash\n")
    assert "--config-file" in script


def test_evaluate_judges_artifacts_that_are_here(hardware_tests: Hardware, tmp_path: Path) -> None:
    directory = write_attempt(tmp_path / "attempt")

    said = hardware_tests("evaluate", "single-node.hello-world", "--artifacts", str(directory))

    assert said.exit_code == 0
    assert said.stdout.splitlines()[-1].startswith("PASSED: ")
    assert said.stdout.startswith("by the limits that this release ships for cpu-generic;")


def test_evaluate_says_where_there_is_no_attempt(hardware_tests: Hardware, tmp_path: Path) -> None:
    said = hardware_tests("evaluate", "single-node.hello-world", "--artifacts", str(tmp_path))

    assert said.exit_code == 64
    assert said.error.startswith(f"there is no {tmp_path}/metadata.json: ")


def test_evaluate_refuses_another_attempt(hardware_tests: Hardware, tmp_path: Path) -> None:
    directory = write_attempt(tmp_path / "attempt")
    asked = ("evaluate", "single-node.hello-world", "--artifacts", str(directory), "--token")

    other = hardware_tests(*asked, f"{TOKEN.run_id}:2")
    garbage = hardware_tests(*asked, "latest")

    assert (other.exit_code, garbage.exit_code) == (2, 64)
    assert f"the artifacts are of {TOKEN.comment}, not of {TOKEN.run_id}:2" in other.stdout


VERDICTS = {"pass": (0, "PASSED"), "fault": (1, "FAILED"), "error": (2, "ERRORED")}


@pytest.mark.parametrize("slug", all_slugs())
@pytest.mark.parametrize("kind", VERDICTS)
def test_evaluate_tells_pass_fault_and_error_apart(
    hardware_tests: Hardware, slug: str, kind: str
) -> None:
    test = get_test_class(slug)
    with canned_attempt(slug, "pass") as collector:
        metrics = test().measure(collector)
    limits = most_calibrated(test, metrics)
    cannot_pass = kind == "pass" and uncalibrated(metrics, limits)
    exit_code, word = VERDICTS["error" if cannot_pass else kind]
    recorded = ("--artifacts", str(CANNED / slug / kind))

    said = hardware_tests("evaluate", slug, *recorded, "--resource-class", limits.resource_class)

    assert said.exit_code == exit_code
    assert said.stdout.splitlines()[-1].startswith(word)


def test_parse_prints_typed_json(hardware_tests: Hardware) -> None:
    recorded = CANNED.parent / "corpus" / "fio" / "seqread_json.json"

    said = hardware_tests("parse", "fio", str(recorded))

    assert said.exit_code == 0
    assert json.loads(said.stdout)["tool"] == "fio"


def test_evaluate_refuses_a_run_that_was_given_other_params(hardware_tests: Hardware) -> None:
    directory = CANNED / Slugs.MEMORY_STRESS / "pass"

    said = hardware_tests(
        "evaluate",
        Slugs.MEMORY_STRESS,
        "--artifacts",
        str(directory),
        "--params",
        '{"duration_s": 86400}',
    )

    assert said.exit_code == 2
    assert "the node was given another duration_s than was asked for" in said.stdout
