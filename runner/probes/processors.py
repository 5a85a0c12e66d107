"""How the CPUs are seated and clocked."""

from __future__ import annotations

from runner.endings import CannotRun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from runner.probes.node import Node

CPUS = "sys/devices/system/cpu"
CLOCK_SOURCE = "sys/devices/system/clocksource/clocksource0/current_clocksource"


def sockets(node: Node) -> dict[str, Any]:
    files = node.names(CPUS, "cpu[0-9]*/topology/physical_package_id")
    if not files:
        raise CannotRun(f"the CPUs below {node.root / CPUS} do not tell their socket")
    return {"count": len({node.read(f"{CPUS}/{file}") for file in files})}


def cores(node: Node) -> dict[str, Any]:
    """Count the cores, and the threads of each: siblings share a list."""
    siblings = node.names(CPUS, "cpu[0-9]*/topology/thread_siblings_list")
    if not siblings:
        raise CannotRun(f"the CPUs below {node.root / CPUS} do not tell their siblings")
    return {"siblings": [node.read(f"{CPUS}/{file}").strip() for file in siblings]}


def clocks(node: Node) -> dict[str, Any]:
    """Tell each CPU's clock as /proc/cpuinfo has it, in MHz."""
    lines = node.read("proc/cpuinfo").splitlines()
    told = [line.partition(":")[2].strip() for line in lines if line.startswith("cpu MHz")]
    if not told:
        raise CannotRun(f"{node.root / 'proc/cpuinfo'} tells no clock: not every CPU does")
    return {"clocks": told}


def governors(node: Node) -> dict[str, Any]:
    files = node.names(CPUS, "cpu[0-9]*/cpufreq/scaling_governor")
    if not files:
        raise CannotRun(f"no CPU below {node.root / CPUS} has a frequency governor")
    return {file.split("/")[0]: node.read(f"{CPUS}/{file}").strip() for file in files}


def clock_source(node: Node) -> dict[str, Any]:
    return {"name": node.read(CLOCK_SOURCE).strip()}
