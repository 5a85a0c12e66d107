"""The one file that nodes run."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from burnin import runner_bundle
from burnin.runner_bundle import SOURCE, BrokenBundle, RunnerBundle, build_runner, bundle_bytes
from runner.contract.slugs import Slugs, all_slugs
from runner.contract.wire import SCHEMA, ExecutionContext, ExitCode


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> RunnerBundle:
    return build_runner(tmp_path_factory.mktemp("bundle"))


@pytest.fixture
def umask_077() -> Iterator[None]:
    before = os.umask(0o077)
    yield
    os.umask(before)


def start(bundle: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Start the bundle as a node does: isolated, without site-packages."""
    return subprocess.run(
        [sys.executable, "-I", "-S", str(bundle), *arguments],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


def test_the_bundle_is_named_by_its_content(bundle: RunnerBundle) -> None:
    assert bundle.sha256 == hashlib.sha256(bundle.path.read_bytes()).hexdigest()
    assert bundle.path.name == f"runner-{bundle.sha256}.pyz"
    assert [path.name for path in bundle.path.parent.iterdir()] == [bundle.path.name]


def test_it_knows_its_own_digest(bundle: RunnerBundle) -> None:
    assert start(bundle.path, "--version").stdout == f"{bundle.sha256}\n"


def test_it_lists_every_test_with_what_it_reads(bundle: RunnerBundle) -> None:
    rows = json.loads(start(bundle.path, "list", "--json").stdout)

    assert {row["slug"] for row in rows} == set(all_slugs()) == set(bundle.slugs)
    reads = {row["slug"]: row["reads"] for row in rows}
    assert reads[Slugs.MEMORY_STRESS] == ["duration_s"]


def test_it_runs_isolated_and_without_site_packages(bundle: RunnerBundle, tmp_path: Path) -> None:
    done = start(bundle.path, *run_hello(tmp_path / "attempt"))

    assert done.returncode == ExitCode.RAN, done.stderr
    metadata = json.loads((tmp_path / "attempt/metadata.json").read_text())
    assert metadata["runner_version"] == bundle.sha256


def run_hello(workspace: Path) -> list[str]:
    context = ExecutionContext(
        run_id="0b5b0a0e-1111-4222-8333-444455556666",
        attempt=1,
        slug=Slugs.HELLO_WORLD,
        params={},
        node_names=[],
        num_nodes=1,
        time_limit_s=60,
        iterations=1,
        facts_root="/",
        uploads={},
    )
    assert context.as_json()["schema"] == SCHEMA
    config = ["--config-json", json.dumps(context.as_json())]
    return ["run", Slugs.HELLO_WORLD, "--workspace", str(workspace), *config]


def test_two_builds_are_equal_whatever_clock_and_umask(
    bundle: RunnerBundle, tmp_path: Path, umask_077: None
) -> None:
    shutil.copytree(SOURCE, tmp_path / "runner")
    for path in (tmp_path / "runner").rglob("*"):
        os.utime(path, (1, 1))
        path.chmod(0o700)

    again = bundle_bytes(tmp_path / "runner")

    assert again == bundle.path.read_bytes()


def test_it_holds_no_tests_and_no_bytecode(bundle: RunnerBundle) -> None:
    with zipfile.ZipFile(bundle.path) as file:
        names = file.namelist()

    assert names[0] == "__main__.py"
    assert "runner/contract/wire.py" in names
    assert names[1:] == sorted(names[1:])
    assert not [name for name in names if "tests" in name or not name.endswith(".py")]


def test_a_source_that_does_not_start_leaves_no_bundle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(SOURCE, tmp_path / "runner")
    (tmp_path / "runner/cli.py").write_text("import no_such_module\n")
    monkeypatch.setattr(runner_bundle, "SOURCE", tmp_path / "runner")

    with pytest.raises(BrokenBundle, match="No module named 'no_such_module'"):
        build_runner(tmp_path / "out")

    assert list((tmp_path / "out").iterdir()) == []


def test_the_command_prints_path_and_digest(bundle: RunnerBundle, tmp_path: Path) -> None:
    printed = StringIO()

    call_command("build_runner", destination=tmp_path, stdout=printed)

    path, sha256 = printed.getvalue().split()
    assert Path(path).is_file()
    assert sha256 == bundle.sha256


def test_the_command_refuses_a_bundle_that_lacks_a_test(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(SOURCE, tmp_path / "runner")
    registry = tmp_path / "runner/registry.py"
    lines = registry.read_text().splitlines(keepends=True)
    registry.write_text("".join(line for line in lines if "Slugs.STORAGE:" not in line))
    monkeypatch.setattr(runner_bundle, "SOURCE", tmp_path / "runner")

    with pytest.raises(CommandError, match=f"no executor for {Slugs.STORAGE}; add runner/exec"):
        call_command("build_runner", destination=tmp_path / "out")

    assert list((tmp_path / "out").iterdir()) == []
