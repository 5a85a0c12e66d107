"""The batch script: golden files, quoting, and what it does before the runner starts."""

import hashlib
import os
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from jinja2 import UndefinedError

from burnin.hardware_tests.batch import (
    BadBatchConfig,
    SlurmBatchConfig,
    make_multi_node_slurm_batch_config,
    make_single_node_slurm_batch_config,
)
from burnin.hardware_tests.sbatch import TEMPLATE, RunnerLaunch, UnsafeValue, quote, render
from burnin.tests.hardware_tests.golden import (
    GOLDEN,
    SHA256,
    golden_launch,
    golden_script,
    golden_scripts,
)
from burnin.tests.hardware_tests.toy import TOKEN, context
from runner.contract.wire import ExitCode

SLUG = "single-node.toy"


def config(**changes: object) -> SlurmBatchConfig:
    whole = make_single_node_slurm_batch_config(context(), gpus_per_node=0)
    return replace(whole, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", golden_scripts())
def test_each_test_renders_its_golden_script(name: str) -> None:
    assert golden_script(*golden_scripts()[name]) == (GOLDEN / f"{name}.sh").read_text(), (
        "if the change is meant: python -m burnin.tests.hardware_tests.golden"
    )


def test_there_is_no_golden_script_without_a_test() -> None:
    assert {path.stem for path in GOLDEN.iterdir()} == set(golden_scripts())


def test_the_workload_is_told_its_class_its_gpus_and_its_container(tmp_path: Path) -> None:
    content = "import os; print(os.environ.get('BURN_IN_RESOURCE_CLASS'), end=' ')\n"
    content += "print(os.environ.get('BURN_IN_GPU_MAKER'), end=' ')\n"
    content += "print(os.environ.get('BURN_IN_CONTAINER'))\n"
    (tmp_path / "runner.pyz").write_text(content)
    launch = replace(
        golden_launch(
            SLUG, TOKEN, resource_class="h200-8x", gpu_maker="NVIDIA", container="a $(reboot) b"
        ),
        bundle_path=str(tmp_path / "runner.pyz"),
        bundle_sha256=hashlib.sha256(content.encode()).hexdigest(),
        path=os.defpath,
    )

    assert run(render(config(), launch)).stdout == "h200-8x NVIDIA a $(reboot) b\n"


def test_every_value_in_the_template_is_quoted() -> None:
    values = re.findall(r"\{\{.*?\}\}", TEMPLATE.read_text(), re.DOTALL)

    assert len(values) > 15
    assert [value for value in values if not re.search(r"\| quote \}\}$", value)] == []


@pytest.mark.parametrize("evil", ["a b", "$(reboot)", "`id`", "a'b", 'a"b', "a;b", "a#b", "-x"])
def test_a_value_stays_one_word(evil: str) -> None:
    said = subprocess.run(
        ["bash", "-c", f"printf %s {quote(evil)}"], capture_output=True, text=True, check=True
    )

    assert said.stdout == evil


@pytest.mark.parametrize("evil", ["a\nb", "a\0b", "a\rb", "\x1b[2J", "a\u2028b", ""])
def test_a_value_that_would_break_out_of_its_line_is_refused(evil: str) -> None:
    with pytest.raises(UnsafeValue):
        render(config(comment=evil), golden_launch(SLUG, TOKEN))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("bundle_path", "relative/runner.pyz"),
        ("attempt_dir", "/shared/%j"),
        ("attempt_dir", "/shared/a\\b"),
        ("bundle_sha256", "abc"),
        ("bundle_sha256", SHA256.upper()),
    ],
)
def test_a_launch_that_slurm_would_read_otherwise_is_refused(name: str, value: str) -> None:
    with pytest.raises(UnsafeValue, match=name):
        replace(golden_launch(SLUG, TOKEN), **{name: value})


def test_an_unknown_name_in_the_template_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        render(object(), golden_launch(SLUG, TOKEN))  # type: ignore[arg-type]


def test_a_named_node_is_asked_for_with_the_exact_count() -> None:
    named = make_multi_node_slurm_batch_config(context(nodelist=("n2", "n1")), gpus_per_node=8)

    script = render(named, golden_launch(SLUG, TOKEN))

    assert "#SBATCH --nodes=2\n#SBATCH --nodelist=n2,n1\n" in script
    assert "#SBATCH --gres=gpu:8\n" in script


def test_slurm_adds_no_nodes_of_its_own() -> None:
    with pytest.raises(BadBatchConfig, match="2 nodes are named but 3 asked for"):
        config(nodelist=("n1", "n2"), num_nodes=3)


def test_a_single_node_test_has_one_node_and_a_multi_node_test_more() -> None:
    with pytest.raises(BadBatchConfig, match="runs on one node a job, not on 2"):
        make_single_node_slurm_batch_config(context(nodes=2), gpus_per_node=0)
    with pytest.raises(BadBatchConfig, match="at least two nodes"):
        make_multi_node_slurm_batch_config(context(), gpus_per_node=0)


@pytest.mark.parametrize(("minutes", "signalled"), [(1, False), (59, False), (60, True)])
def test_only_a_long_job_is_signalled_before_its_limit(minutes: int, signalled: bool) -> None:
    script = render(config(time_limit_minutes=minutes), golden_launch(SLUG, TOKEN))

    assert ("#SBATCH --signal=B:TERM@60\n" in script) is signalled


def test_a_job_without_gpus_or_nodes_does_not_mention_them() -> None:
    script = render(config(), golden_launch(SLUG, TOKEN))

    assert "--gres" not in script
    assert "--nodelist" not in script


BUNDLE = """\
import os, sys
print(*sys.argv[1:], sep="|")
print(sorted(name for name in os.environ if name in ("LEAK", "SLURM_JOB_ID", "PATH")))
"""


def launched(tmp_path: Path, content: str, *, sha256: str) -> subprocess.CompletedProcess[str]:
    bundle = tmp_path / "it's a runner.pyz"
    bundle.write_text(content)
    launch = RunnerLaunch(
        slug=SLUG,
        bundle_path=str(bundle),
        bundle_sha256=sha256,
        attempt_dir=str(tmp_path / "an attempt"),
        python="python3",
        path=os.defpath,
    )
    return run(render(config(), launch))


def run(script: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [shutil.which("bash") or "bash"],
        input=script,
        env={"PATH": os.defpath, "LEAK": "me", "SLURM_JOB_ID": "7"},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


def test_the_runner_is_started_with_a_clean_environment(tmp_path: Path) -> None:
    done = launched(tmp_path, BUNDLE, sha256=hashlib.sha256(BUNDLE.encode()).hexdigest())

    directory = tmp_path / "an attempt"
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        f"run|{SLUG}|--workspace|{directory}|--config-file|{directory}/context.json",
        "['PATH', 'SLURM_JOB_ID']",
    ]


def test_a_changed_bundle_is_refused_before_anything_runs(tmp_path: Path) -> None:
    sent = hashlib.sha256(BUNDLE.encode()).hexdigest()
    changed = BUNDLE + "#"

    done = launched(tmp_path, changed, sha256=sent)

    found = hashlib.sha256(changed.encode()).hexdigest()
    assert (done.returncode, done.stdout) == (ExitCode.BAD_BUNDLE, "")
    assert f"has sha256 {found}, {sent} was sent: nothing was run" in done.stderr


def test_a_bundle_that_is_not_there_is_refused() -> None:
    done = run(render(config(), golden_launch(SLUG, TOKEN)))

    assert (done.returncode, done.stdout) == (ExitCode.BAD_BUNDLE, "")
    assert "cannot be read" in done.stderr
