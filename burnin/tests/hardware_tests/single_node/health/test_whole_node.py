"""Every check at once: the real runner, with stand-ins for the tools of a node of eight H100."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from burnin.hardware_tests.evaluation import EvaluationResult, EvaluationStatus
from burnin.hardware_tests.single_node.health.params import NodeHealthParams
from burnin.hardware_tests.single_node.health.report import read_report
from burnin.hardware_tests.single_node.node_health import NodeHealthCheckTest
from burnin.tests.hardware_tests.parsers.corpus.recordings import SHIPPED
from burnin.tests.hardware_tests.single_node.attempts import judged, made_up_attempt
from burnin.tests.hardware_tests.single_node.health import h100
from runner.contract.health import CHECKS_OF, SECTION_OF
from runner.contract.slugs import Slugs
from runner.contract.wire import SCHEMA

REPOSITORY = Path(__file__).resolve().parents[5]
# Of this very machine, not of the node that the stand-ins make up; and of AMD's GPUs.
ELSEWHERE = {"kernel_errors", "boot_log", "clock_offset", "rocm_smi", "rocm_ras"}
ASKED = [check for check in SECTION_OF if SECTION_OF[check] not in ELSEWHERE]
PARAMS = {"checks": ASKED, "filesystems": ["/dev/shm"], "watch_s": 0, "golden": {}}
# What any Linux machine tells, in a container too.
ANYWHERE = {"memory_size", "cpu_count", "cpu_cores", "kernel_versions", "uptime", "shared_memory"}
# Why a machine does not tell: the tool, the hardware, the driver or the service is not there.
NOT_HERE = re.compile(
    r"is not installed on node n1|there is no |[Nn]o such file|not permitted|did not say its clock"
    r"|no memory controller|no CPU below|no network device|has no speed|has no NVMe drive"
    r"|System has not been booted with systemd|resolve_ctls|holds nothing of the last 24 h"
    r"|does not list the last boot|has lost its beginning"
)
TOOLS = {
    "nvidia-smi -q -x": h100.XML,
    "nvidia-smi": h100.TABLE,
    "nvidia-smi nvlink --status": h100.LINKS,
    "nvidia-smi nvlink -e": h100.LINK_ERRORS,
    "nvidia-smi topo -m": h100.TOPOLOGY,
    "systemctl is-active nvidia-fabricmanager": "active\n",
    "nvidia-imex-ctl -N": h100.IMEX,
    "ibstat": h100.IBSTAT,
    "mlxlink -d mlx5_0 -m -c -e": h100.MLXLINK,
    "ofed_info -s": h100.OFED,
    "wpa_cli status -i rdma0": h100.WPA,
    "journalctl --no-pager -o cat --since=-24h -n 1": "Started a session.\n",
    "journalctl --no-pager -o cat --since=-24h -g lost carrier": "",
    "ipmitool mc info": h100.BMC,
    "ras-mc-ctl --summary": h100.RASDAEMON,
    "last -x --time-format iso --since -1days reboot": h100.BOOTS,
    "nvme smart-log /dev/nvme0 -o json": h100.SMART,
    "lspci -vv": h100.LSPCI,
    "dmidecode -t memory": h100.DMIDECODE,
    "chronyc -n -c tracking": h100.CHRONYC,
    "ipmitool sel elist": h100.SEL,
    "ipmitool sdr list": h100.SENSORS,
    "scontrol -o show node n1": h100.SCONTROL,
}
PORT = "sys/class/infiniband/mlx5_0/ports/1/counters"
FILES = {
    "proc/meminfo": "MemTotal: 2113000000 kB\n",
    "proc/buddyinfo": f"Node 0, zone Normal {'1 ' * 11}\n",
    "proc/swaps": "Filename Type Size\n",
    "proc/modules": "".join(
        f"{name} 1 0\n" for name in ("nvidia_peermem", "gdrdrv", "ib_core", "ib_uverbs")
    ),
    "proc/sys/kernel/numa_balancing": "0\n",
    "proc/sys/kernel/osrelease": "6.1.0-13-amd64\n",
    "proc/cmdline": "root=/dev/sda iommu=pt\n",
    "proc/cpuinfo": "processor\t: 0\ncpu MHz\t\t: 2000.0\n",
    "sys/kernel/iommu_groups/0/type": "identity\n",
    "sys/class/dmi/id/bios_vendor": "Dell Inc.\n",
    "sys/class/dmi/id/bios_version": "2.5.6\n",
    "sys/class/dmi/id/bios_date": "10/01/2025\n",
    "sys/devices/system/cpu/cpu0/topology/thread_siblings_list": "0,56\n",
    "sys/devices/system/cpu/cpu56/topology/thread_siblings_list": "0,56\n",
    "proc/uptime": "1000.0 1.0\n",
    "proc/mdstat": "Personalities : \nunused devices: <none>\n",
    "proc/1/stat": f"1 (init) S {'0 ' * 20}\n",
    "sys/devices/system/cpu/online": "0-111\n",
    "sys/devices/system/cpu/cpu0/topology/physical_package_id": "0\n",
    "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance\n",
    "sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc\n",
    "sys/devices/system/edac/mc/mc0/ue_count": "0\n",
    "sys/devices/system/edac/mc/mc0/ce_count": "0\n",
    "sys/class/net/eth0/device/vendor": "0x15b3\n",
    "sys/class/net/eth0/flags": "0x1003\n",
    "sys/class/net/eth0/operstate": "up\n",
    "sys/class/net/eth0/carrier_down_count": "1\n",
    "sys/class/nvme/nvme0/state": "live\n",
    "sys/class/nvme/nvme0/model": "P5520\n",
    "sys/class/nvme/nvme0/firmware_rev": "9CV10200\n",
    "sys/class/net/eth0/speed": "25000\n",
    "sys/class/net/eth0/mtu": "9000\n",
    "sys/class/net/rdma0/mtu": "4200\n",
    f"{PORT}/symbol_error": "0\n",
    f"{PORT}/link_downed": "1\n",
    f"{PORT}/port_rcv_errors": "0\n",
    f"{PORT}/excessive_buffer_overrun_errors": "0\n",
}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the runner leaves of a healthy node, filesystems and all."""
    place = tmp_path_factory.mktemp("node")
    for name, text in FILES.items():
        (place / "root" / name).parent.mkdir(parents=True, exist_ok=True)
        (place / "root" / name).write_text(text)
    for at, (command, text) in enumerate(TOOLS.items()):
        _stand_in(place / "tools", command, text, at)
    _run(place, facts_root=f"{place}/root", path=f"{place}/tools", params=PARAMS)
    return place / "work/results"


def _stand_in(tools: Path, command: str, text: str, at: int) -> None:
    """Let a script answer each of a tool's command lines, and no other."""
    tools.mkdir(exist_ok=True)
    name, _, arguments = command.partition(" ")
    (tools / f"{at}.txt").write_text(text)
    script = tools / name
    before = script.read_text() if script.exists() else "#!/bin/sh\n"
    answer = f'[ "$*" = "{arguments}" ] && exec /bin/cat {tools}/{at}.txt\n'
    script.write_text(before + answer)
    script.chmod(0o755)


def _run(place: Path, *, facts_root: str, path: str, params: dict[str, Any]) -> None:
    told = {
        "schema": SCHEMA,
        "run_id": "0b5b0a0e-1111-4222-8333-444455556666",
        "attempt": 1,
        "slug": Slugs.NODE_HEALTH,
        "params": params,
        "node_names": ["n1"],
        "num_nodes": 1,
        "time_limit_s": 600,
        "iterations": 1,
        "facts_root": facts_root,
        "uploads": {},
    }
    (place / "work").mkdir()
    where = ["--workspace", f"{place}/work", "--config-json", json.dumps(told)]
    subprocess.run(
        [sys.executable, "-S", "-m", "runner", "run", Slugs.NODE_HEALTH, *where],
        cwd=REPOSITORY,
        env={"PATH": path, "SLURMD_NODENAME": "n1"},
        timeout=60,
        check=True,
    )


def verdict(results: Path, directory: Path, **changed: str) -> EvaluationResult:
    """Judge the healthy node by the limits of its class, with some reports changed."""
    files = {path.name: path.read_text() for path in results.iterdir()}
    files |= {f"{name}.txt": text for name, text in changed.items()}
    attempt = made_up_attempt(directory, files, params=PARAMS)
    metrics = NodeHealthCheckTest().extract_metrics(attempt)
    assert metrics.unread_checks is None, metrics.details
    return judged(Slugs.NODE_HEALTH, metrics, "h100-sxm5-8x")


def test_a_healthy_node_passes_every_check(results: Path, tmp_path: Path) -> None:
    result = verdict(results, tmp_path)

    assert result.passed, result.reason
    assert len(ASKED) == len(SECTION_OF) - sum(len(CHECKS_OF[each]) for each in ELSEWHERE)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        (
            {"nvidia_smi": h100.XML.replace("row_failure>No", "row_failure>Yes", 1)},
            "GPUs with a failed row remap 1, allows at most 0 (GPU 0 (00000000:00:00.0))",
        ),
        (
            {"nvidia_nvlinks": h100.LINKS.replace("26.562 GB/s", "<inactive>", 1)},
            "Active NVLinks of the worst GPU 17, must be exactly 18 (GPU 0)",
        ),
        (
            {"rdma_ports": h100.IBSTAT.replace("State: Active", "State: Down", 1)},
            "RDMA ports that are up 7, needs at least 8 (mlx5_0/1: Down, LinkUp); "
            "RDMA ports that are not up 1, allows at most 0 (mlx5_0/1: Down, LinkUp)",
        ),
    ],
    ids=["memory", "nvlink", "port"],
)
def test_one_broken_part_of_a_healthy_node_fails_it(
    results: Path, tmp_path: Path, changed: dict[str, str], reason: str
) -> None:
    result = verdict(results, tmp_path, **changed)

    assert result.status is EvaluationStatus.FAILED
    assert result.reason == reason


def test_another_vendors_ports_do_not_stand_in_for_lost_ones(results: Path, tmp_path: Path) -> None:
    four = (SHIPPED / "infiniband/ibstat_four_hcas_faults.txt").read_text()

    result = verdict(results, tmp_path, rdma_ports=four)

    assert result.status is EvaluationStatus.FAILED
    assert "Slowest RDMA port 100 Gb/s, needs at least 200 (mlx5_bond_0/1)" in result.reason


def test_every_check_that_this_machine_can_answer_is_answered(tmp_path: Path) -> None:
    params = {**PARAMS, "checks": list(SECTION_OF)}
    _run(tmp_path, facts_root="/", path=os.environ["PATH"], params=params)
    files = {each.name: each.read_text() for each in (tmp_path / "work/results").iterdir()}
    attempt = made_up_attempt(tmp_path, files, params=params)

    found = read_report(attempt, NodeHealthParams.model_validate(params))

    assert set(found.values) >= ANYWHERE
    assert len(found.values) + len(found.unread) == len(SECTION_OF)
    assert [why for why in found.unread if not NOT_HERE.search(why)] == []
