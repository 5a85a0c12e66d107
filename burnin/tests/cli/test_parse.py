"""`hardware_tests parse` reaches the parser of every tool, under the name of its folder."""

from __future__ import annotations

import json

import pytest

from burnin.management.hardware_tests.tools import TOOLS
from burnin.tests.cli.conftest import Hardware
from burnin.tests.hardware_tests.parsers.corpus.recordings import SHIPPED, Recording, recordings_in

FOLDERS = (
    *("cuda-samples", "dcgmi-diag", "elbencho", "fio", "gpu-burn", "hpcg", "hpl", "infiniband"),
    *("ior", "iperf2", "iperf3", "kernel-log", "mdtest", "nccl-tests", "nvbandwidth"),
    *("nvidia-smi", "nvme", "pci", "perftest", "rocm-bandwidth-test", "rocm-smi", "rvs"),
    *("smartctl", "stream", "training"),
)
SLURM = (
    *("slurm-hostlist", "slurm-restd", "slurm-sacct", "slurm-sbatch", "slurm-scontrol-job"),
    *("slurm-scontrol-node", "slurm-sinfo", "slurm-squeue"),
)
RECORDINGS = recordings_in(SHIPPED, "shipped")
READ = {each.tool: each for each in RECORDINGS if each.expected is not None}
REFUSED = {each.tool: each for each in RECORDINGS if each.expected_error is not None}


@pytest.mark.parametrize("tool", [*FOLDERS, *SLURM])
def test_every_tool_has_a_parser(tool: str) -> None:
    assert tool in TOOLS


@pytest.mark.parametrize("recording", READ.values(), ids=str)
def test_a_report_is_printed_as_json(hardware_tests: Hardware, recording: Recording) -> None:
    said = hardware_tests("parse", recording.tool, str(recording.path))

    assert said.exit_code == 0
    assert json.loads(said.stdout)["tool"] == recording.tool


@pytest.mark.parametrize("recording", REFUSED.values(), ids=str)
def test_a_refusal_is_one_sentence_with_its_kind(
    hardware_tests: Hardware, recording: Recording
) -> None:
    assert recording.expected_error is not None

    said = hardware_tests("parse", recording.tool, str(recording.path))

    assert said.exit_code == 1
    assert f"is refused ({recording.expected_error['kind']}): " in said.error
    assert said.stdout == ""
