"""The real sbatch takes every golden script, and reads its values as they were meant."""

import os
import subprocess
from pathlib import Path

import pytest

from burnin.hardware_tests.batch import make_single_node_slurm_batch_config
from burnin.hardware_tests.sbatch import render
from burnin.tests.hardware_tests.golden import GOLDEN, golden_launch, golden_scripts
from burnin.tests.hardware_tests.toy import TOKEN, context
from deploy.cluster.testing import RealCluster

pytestmark = pytest.mark.cluster


def slurm(cluster: RealCluster, *argv: str) -> str:
    done = subprocess.run(
        argv,
        env={**os.environ, **cluster.environment},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize("name", golden_scripts())
def test_sbatch_accepts_the_golden_script(cluster: RealCluster, name: str, tmp_path: Path) -> None:
    lines = (GOLDEN / f"{name}.sh").read_text().splitlines(keepends=True)
    script = tmp_path / "script.sh"
    # The cluster's nodes have no GPUs, and Slurm refuses whoever asks for some.
    script.write_text("".join(line for line in lines if not line.startswith("#SBATCH --gres=")))

    said = slurm(cluster, "sbatch", "--test-only", str(script))

    assert "to start at" in said
    nodes = {"single-node": "n1", "pairwise": "n[1-2]"}.get(name.partition(".")[0], "n[1-4]")
    assert f"on nodes {nodes} in partition main" in said


def test_slurm_reads_each_directive_as_it_was_meant(cluster: RealCluster, tmp_path: Path) -> None:
    odd = tmp_path / 'it\'s "an" attempt #1'
    config = make_single_node_slurm_batch_config(
        context(nodelist=("n1",), timeout_minutes=60), gpus_per_node=0
    )
    launch = golden_launch("single-node.toy", TOKEN)
    script = tmp_path / "script.sh"
    script.write_text(render(config, type(launch)(**{**vars(launch), "attempt_dir": str(odd)})))

    job_id = slurm(cluster, "sbatch", "--parsable", "--hold", str(script)).strip()
    shown = slurm(cluster, "scontrol", "show", "job", job_id)
    slurm(cluster, "scancel", job_id)

    for wanted in (
        f"JobName={TOKEN.job_name}\n",
        f"Comment={TOKEN.comment} \n",
        f"StdOut={odd}/slurm.out\n",
        "Requeue=0 ",
        "TimeLimit=01:00:00 ",
        "ReqNodeList=n1 ",
        "NumNodes=1",
        "MinMemoryNode=0 ",
        "OverSubscribe=NO ",
    ):
        assert wanted in shown
    assert "Deadline=N/A" not in shown
