"""Which machines these are. What cannot be read is None: unknown, never a guess."""

from __future__ import annotations

import json
import os
from pathlib import Path

from runner.endings import CannotRun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from runner.workspace import WorkspaceManager

SRUN_TIMEOUT_S = 120.0
RANK = "rank"


class SlurmJob:
    """What Slurm says of this job in the environment; by hand, outside Slurm, it says nothing."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.job_id = environment.get("SLURM_JOB_ID", "")
        self.node_list = environment.get("SLURM_JOB_NODELIST", "")
        self.node_name = environment.get("SLURMD_NODENAME") or os.uname().nodename
        self.restarted = environment.get("SLURM_RESTART_COUNT", "0") not in ("", "0")

    def as_json(self) -> dict[str, Any]:
        # A restarted job never gets as far as writing this.
        return {"job_id": self.job_id, "restart_count": 0, "node_list": self.node_list}


def root_of(facts_root: str, node_name: str) -> Path:
    """Return where /proc, /sys and /etc of the node are: %N stands for its Slurm name."""
    return Path(facts_root.replace("%N", node_name))


def node_facts(root: Path, node_name: str) -> dict[str, Any]:
    """Return who and what this machine is, as read below `root`."""
    machine = os.uname()
    return {
        "node_name": node_name,
        "hostname": read_line(root / "proc/sys/kernel/hostname") or machine.nodename,
        "kernel": read_line(root / "proc/sys/kernel/osrelease") or machine.release,
        "cpu_count": cpu_count(root),
        "memory_bytes": memory_bytes(root, "MemTotal"),
        "machine_id": read_line(root / "etc/machine-id"),
        "dmi_serial": read_line(root / "sys/class/dmi/id/product_serial"),
        "gpu_uuids": gpu_uuids(root),
    }


def job_facts(
    workspace_manager: WorkspaceManager,
    *,
    facts_root: str,
    num_nodes: int,
    this_program: Sequence[str],
) -> list[dict[str, Any]]:
    """Return the facts of every node of the job, in Slurm's order: one `srun`, one task a node."""
    node_name = workspace_manager.node_name
    if num_nodes == 1:
        return [node_facts(root_of(facts_root, node_name), node_name)]
    listing = workspace_manager.directory / "facts.jsonl"
    done = workspace_manager.run_command(
        [*_srun(num_nodes), *this_program, "facts", "--json", "--facts-root", facts_root],
        timeout_s=SRUN_TIMEOUT_S,
        capture_to=listing,
    )
    facts = _parse_listing(listing.read_text(encoding="utf-8"))
    if len(facts) != num_nodes:
        names = ", ".join(fact["node_name"] for fact in facts) or "none"
        raise CannotRun(
            f"facts came from {len(facts)} of {num_nodes} nodes ({names});"
            f" srun exited {done.exit_code}: {done.stderr_tail or 'no message'}"
        )
    return facts


def _srun(num_nodes: int) -> list[str]:
    return ["srun", f"--nodes={num_nodes}", f"--ntasks={num_nodes}", "--ntasks-per-node=1"]


def facts_line(environment: Mapping[str, str], facts_root: str) -> str:
    """Return this node's facts as the one line that `job_facts` reads."""
    node_name = SlurmJob(environment).node_name
    facts = node_facts(root_of(facts_root, node_name), node_name)
    return json.dumps({RANK: int(environment.get("SLURM_NODEID", "0")), **facts})


def _parse_listing(text: str) -> list[dict[str, Any]]:
    lines = [line for line in text.splitlines() if line.startswith("{")]
    try:
        facts = sorted((json.loads(line) for line in lines), key=lambda fact: int(fact[RANK]))
    except (ValueError, KeyError) as error:
        raise CannotRun(f"a node's facts came back torn: {error}") from error
    return [{name: fact[name] for name in fact if name != RANK} for fact in facts]


def read_line(path: Path) -> str | None:
    """Return the file's first line, or None if there is no such file, right, or text."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    lines = text.strip("\0\n ").splitlines()
    return lines[0] if lines else None


def memory_bytes(root: Path, field: str) -> int | None:
    """Return one field of meminfo (`MemTotal`, `MemAvailable`) in bytes."""
    try:
        lines = (root / "proc/meminfo").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return None
    found = [line.split() for line in lines if line.startswith(f"{field}:")]
    if not found or len(found[0]) != 3 or not found[0][1].isdecimal():
        return None
    return int(found[0][1]) * 1024


def cpu_count(root: Path) -> int | None:
    """Return how many CPUs are online."""
    online = read_line(root / "sys/devices/system/cpu/online")
    if online:
        return _count_ranges(online)
    try:
        text = (root / "proc/cpuinfo").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    return sum(line.startswith("processor\t") for line in text.splitlines()) or None


def gpu_uuids(root: Path) -> list[str]:
    """Return the UUIDs the NVIDIA driver lists; no driver, no GPUs."""
    found = []
    for information in sorted((root / "proc/driver/nvidia/gpus").glob("*/information")):
        lines = information.read_text(encoding="ascii", errors="replace").splitlines()
        found += [line.split()[-1] for line in lines if line.startswith("GPU UUID:")]
    return found


def _count_ranges(ranges: str) -> int | None:
    """Count what "0-3,8" names."""
    try:
        ends = [[int(end) for end in part.split("-")] for part in ranges.split(",")]
    except ValueError:
        return None
    return sum(end[-1] - end[0] + 1 for end in ends)
