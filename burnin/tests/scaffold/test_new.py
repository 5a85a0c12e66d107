"""`hardware_tests new` writes a whole test, or refuses in one sentence and changes nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from burnin.management.scaffold.names import ScaffoldRefused
from burnin.management.scaffold.new_test import EDITED, write_new_test
from burnin.tests.scaffold.conftest import InTree
from deploy.cluster.testing import RealCluster

SLUGS = {
    "single-node.my-check": "n1",
    "multi-node.our-check": "n[1-4]",
    "pairwise.their-check": "n[1-2]",
}
GATES = (
    "burnin/tests/test_wiring.py",
    "burnin/tests/test_checks.py",
    "burnin/tests/hardware_tests/test_thresholds.py",
    "burnin/tests/hardware_tests/test_catalogue.py",
    "burnin/tests/hardware_tests/test_every_test_on_bad_data.py",
    "burnin/tests/hardware_tests/test_sbatch.py",
    "burnin/tests/hardware_tests/test_stale_test_operations.py",
    "burnin/tests/hardware_tests/single_node/test_canned.py",
    "burnin/tests/dashboards/test_catalogue.py",
    "burnin/tests/api/test_catalogue.py",
    "burnin/tests/cli/test_show_and_generate.py",
)
UNCALIBRATED = '{uncalibrated: "new: nobody has measured it, and no data sheet states it"}'
STATED = "{value: 0.02, source: the author's own machine when it is busy, confidence: C}"

# `hardware_tests evaluate` before and after a limit is stated; a process for each would take twice.
BEFORE_AND_AFTER = """
import os, pathlib, sys
import django
from django.core.management import call_command

os.environ["DJANGO_SETTINGS_MODULE"] = "fleet.settings"
django.setup()
slug, uncalibrated, stated = sys.argv[1:]
judge = ("hardware_tests", "evaluate", slug, "--artifacts", f"fixtures/artifacts/{slug}/pass")
try:
    call_command(*judge)
except SystemExit as ending:
    print("exit", ending.code)
path = pathlib.Path("burnin/hardware_tests/thresholds/thresholds.yaml")
path.write_text(path.read_text().replace(uncalibrated, stated))
call_command(*judge)
"""


def files_of(tree: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(tree)): path.read_bytes() for path in tree.rglob("*") if path.is_file()
    }


def own_tests(slug: str) -> tuple[str, str]:
    stage, _, words = slug.replace("-", "_").partition(".")
    definition = f"burnin/tests/hardware_tests/{stage}/test_{words}.py"
    return definition, f"runner/tests/executors/test_{words}.py"


def named(*slugs: str) -> str:
    """Return what selects the gates of these tests, and those that look at all tests."""
    words = [slug.partition(".")[2] for slug in slugs]
    titles = [word.title().replace("-", "") for word in words]
    modules = [word.replace("-", "_") for word in words]
    whole = ["it_tells_metrics", "list_names_every", "whole", "class_and_an_executor"]
    return " or ".join([*words, *titles, *modules, *whole])


def state_a_limit(tree: Path) -> None:
    path = tree / "burnin/hardware_tests/thresholds/thresholds.yaml"
    text = path.read_text()
    assert UNCALIBRATED in text
    path.write_text(text.replace(UNCALIBRATED, STATED))


def hardware_tests_in(in_tree: InTree, *argv: str, **env: str) -> subprocess.CompletedProcess[str]:
    return in_tree(sys.executable, "manage.py", "hardware_tests", *argv, **env)


@pytest.mark.parametrize("slug", SLUGS)
def test_it_edits_five_lists_and_writes_the_rest(small_tree: Path, slug: str) -> None:
    before = files_of(small_tree)

    written = write_new_test(small_tree, slug)

    after = files_of(small_tree)
    changed = {name for name, content in after.items() if before.get(name) != content}
    assert changed == set(written)
    assert {name for name in changed if name in before} == set(EDITED)
    assert set(before) <= set(after)


def test_a_new_test_passes_every_gate_is_in_page_rest_and_cli_and_waits_for_a_limit(
    tree: Path, in_tree: InTree
) -> None:
    slug = "single-node.my-check"
    write_new_test(tree, slug)

    gates = in_tree(
        *(sys.executable, "-m", "pytest", "-v", *GATES, *own_tests(slug), "-k", named(slug))
    )
    linted = in_tree(sys.executable, "-m", "ruff", "check", ".")
    formatted = in_tree(sys.executable, "-m", "ruff", "format", "--check", ".")

    assert gates.returncode == 0, gates.stdout[-3000:]
    for gate in (
        "test_each_test_has_a_page",
        "test_it_tells_metrics_limits",
        "test_list_names_every_test",
        "test_the_shipped_tests_are_whole",
        "test_each_test_renders_its_golden_script",
        "test_a_missing_tool_is_named",
    ):
        assert f"{gate}" in gates.stdout
    assert linted.returncode == 0, linted.stdout
    assert formatted.returncode == 0, formatted.stdout

    told = in_tree(sys.executable, "-c", BEFORE_AND_AFTER, slug, UNCALIBRATED, STATED)
    before, after = told.stdout.split("exit 2\n")

    assert before.splitlines()[-1].startswith(
        "ERRORED (test): no calibrated threshold for throughput: new: "
    )
    assert after.splitlines()[-1].startswith("PASSED: "), told.stdout + told.stderr
    assert told.returncode == 0


@pytest.mark.parametrize(
    ("slug", "sentence"),
    [
        ("single-node.hello-world", "there is a test single-node.hello-world already: choose "),
        ("single-node.hello-worlds", "single-node.hello-worlds and single-node.hello-world are "),
        ("single-node.memorystress", "single-node.memorystress and single-node.memory-stress are"),
        ("multi-node.storage", "the name Slugs.STORAGE is taken: choose other words than 'stor"),
        ("node.my-check", "'node.my-check' is no slug: write single-node.<words-with-dashes>, "),
        ("single-node.My_Check", "'single-node.My_Check' is no slug: "),
        ("my-check", "'my-check' is no slug: "),
        ("single-node.my-check; rm", "'single-node.my-check; rm' is no slug: "),
        ("single-node.3d-check", "'3d_check' cannot be the name of a Python module"),
        ("single-node.class", "'class' cannot be the name of a Python module"),
        ("single-node.true", "'True' cannot be the name of a Python class"),
        ("single-node.answer", "the name Answer is taken: choose other words than 'answer'"),
        ("single-node.cannot-run", "the name CannotRun is taken: choose other words than 'cann"),
        ("pairwise.path", "the name Path is taken: choose other words than 'path'"),
        ("single-node.base", "the name BaseMetrics is taken: choose other words than 'base'"),
        ("single-node.test-me", "pytest would take TestMe for its own: leave 'test' out"),
        ("single-node.a-name-far-too-long-for", "'a-name-far-too-long-for' is longer than 22 "),
    ],
)
def test_a_name_that_cannot_be_is_refused_and_nothing_is_changed(
    small_tree: Path, slug: str, sentence: str
) -> None:
    before = files_of(small_tree)

    with pytest.raises(ScaffoldRefused) as refused:
        write_new_test(small_tree, slug)

    assert str(refused.value).startswith(sentence)
    assert "\n" not in str(refused.value)
    assert files_of(small_tree) == before


def test_what_is_there_already_is_never_written_over(small_tree: Path) -> None:
    mine = small_tree / "runner/executors/my_check.py"
    mine.parent.mkdir()
    mine.write_text("# half a day's work\n")
    before = files_of(small_tree)

    with pytest.raises(ScaffoldRefused, match=r"runner/executors/my_check.py is there already"):
        write_new_test(small_tree, "single-node.my-check")

    assert files_of(small_tree) == before


@pytest.mark.parametrize(
    "link", ["fixtures/sbatch/single-node.my-check.sh", "fixtures/artifacts/single-node.my-check"]
)
def test_a_tree_that_cannot_be_written_stays_as_it_was(small_tree: Path, link: str) -> None:
    """Below /sys nothing can be made, whoever one is."""
    (small_tree / link).symlink_to("/sys/no-such")
    before = files_of(small_tree)

    with pytest.raises(ScaffoldRefused, match=r"cannot be written \(.*\): nothing was changed$"):
        write_new_test(small_tree, "single-node.my-check")

    assert files_of(small_tree) == before


def test_outside_a_source_tree_it_is_refused(settings: Settings, tmp_path: Path) -> None:
    settings.BASE_DIR = tmp_path

    with pytest.raises(CommandError) as refused:
        call_command("hardware_tests", "new", "single-node.my-check")

    assert refused.value.returncode == 64
    assert str(refused.value) == (
        f"{tmp_path} is no source checkout (runner/contract/slugs.py is not there): "
        "run this in a clone of the repository"
    )


@pytest.mark.parametrize(
    "name",
    ["burnin/hardware_tests/thresholds/thresholds.yaml", "burnin/stale_test_operations.yaml"],
)
def test_a_list_that_cannot_be_read_is_mended_first(small_tree: Path, name: str) -> None:
    with (small_tree / name).open("a") as file:
        file.write("  half: [a\n")
    before = files_of(small_tree)

    with pytest.raises(ScaffoldRefused, match=rf"^{name}: cannot be read: .*; mend it, then"):
        write_new_test(small_tree, "single-node.my-check")

    assert files_of(small_tree) == before


def test_lists_that_were_rebuilt_by_hand_are_not_guessed_at(small_tree: Path) -> None:
    registry = small_tree / "runner/registry.py"
    registry.write_text(registry.read_text().replace("EXECUTORS", "RUNS"))

    with pytest.raises(ScaffoldRefused, match="a collection EXECUTORS is not where it was: add"):
        write_new_test(small_tree, "single-node.my-check")


@pytest.mark.slow
def test_make_check_takes_one_of_each_stage(tree: Path, in_tree: InTree) -> None:
    for slug in SLUGS:
        write_new_test(tree, slug)
    checked = in_tree("make", "-o", ".venv/synced", "check")
    own = [path for slug in SLUGS for path in own_tests(slug)]
    gates = in_tree(sys.executable, "-m", "pytest", "-q", *GATES, *own, "-k", named(*SLUGS))

    assert checked.returncode == 0, checked.stdout[-3000:] + checked.stderr[-3000:]
    assert gates.returncode == 0, gates.stdout[-3000:]


@pytest.mark.slow
@pytest.mark.cluster
@pytest.mark.parametrize("slug", SLUGS)
def test_it_runs_and_passes_once_a_limit_is_stated(
    tree: Path, in_tree: InTree, cluster: RealCluster, slug: str
) -> None:
    write_new_test(tree, slug)
    asked = ("dispatch", slug, "--local", "--partition", "main", "--timeout", "5")
    where = ("--nodelist", SLUGS[slug])
    slurm = {"SLURM_CONF": str(cluster.slurm_conf)}

    before = hardware_tests_in(in_tree, *asked, *where, **slurm)
    state_a_limit(tree)
    after = hardware_tests_in(in_tree, *asked, *where, **slurm)

    assert before.returncode == 2, before.stdout
    assert "ERRORED (test): no calibrated threshold for throughput: new: " in before.stdout
    assert after.returncode == 0, after.stdout
    assert "PASSED: Slowest " in after.stdout
