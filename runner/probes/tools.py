"""The checks that a tool answers: its command line, and its output as the artifact."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from runner.probes.node import Node

RDMA, NETWORK, NVME = "sys/class/infiniband", "sys/class/net", "sys/class/nvme"
COMMANDS = {
    "nvidia_smi": "nvidia-smi -q -x",
    "nvidia_smi_table": "nvidia-smi",
    "nvidia_nvlinks": "nvidia-smi nvlink --status",
    "nvidia_nvlink_errors": "nvidia-smi nvlink -e",
    "nvidia_topology": "nvidia-smi topo -m",
    "nvidia_fabric_manager": "systemctl is-active nvidia-fabricmanager",
    "nvidia_imex": "nvidia-imex-ctl -N",
    "rocm_smi": "rocm-smi -a --json",
    "rdma_ports": "ibstat",
    "rdma_software": "ofed_info -s",
    "recorded_errors": "ras-mc-ctl --summary",
    "board_controller": "ipmitool mc info",
    "pci_links": "lspci -vv",
    "dimms": "dmidecode -t memory",
    "time_sync": "chronyc -n -c tracking",
    "event_log": "ipmitool sel elist",
    "sensors": "ipmitool sdr list",
    "slurm_node": "scontrol -o show node {node_name}",
}


def ask(node: Node, section: str) -> dict[str, Any]:
    """Run the section's tool once."""
    command = COMMANDS[section].format(node_name=node.workspace_manager.node_name)
    return node.ask(command.split(), report=section)


def watch_nvidia_smi(node: Node) -> Callable[[], Any]:
    """Ask nvidia-smi at both ends: what its counters grew by is the hub's to say."""
    argv = COMMANDS["nvidia_smi"].split()
    before = node.ask(argv, report="nvidia_smi_growth-before")

    def end() -> dict[str, Any]:
        return {"before": before, "after": node.ask(argv, report="nvidia_smi_growth-after")}

    return end


def ask_last(node: Node) -> dict[str, Any]:
    """Ask for the boots of a day, and tell how long ago the last one was."""
    argv = ["last", "-x", "--time-format", "iso", "--since", "-1days", "reboot"]
    return {"uptime": node.read("proc/uptime"), "last": node.ask(argv, report="reboots-last")}


def ask_journal(node: Node) -> dict[str, Any]:
    """Ask for lost carriers of a day, and for any line of it: where none is kept, none is good."""
    day = ["journalctl", "--no-pager", "-o", "cat", "--since=-24h"]
    return {
        "day": node.ask([*day, "-n", "1"], report="lost_carriers-day"),
        "lost": node.ask([*day, "-g", "lost carrier"], report="lost_carriers-lost"),
    }


def ask_mlxlink(node: Node) -> dict[str, Any]:
    """Ask for the signal of every RDMA device."""
    return _ask_each(
        node,
        "rdma_signal",
        node.devices(RDMA, "*", "RDMA device"),
        lambda device: ["mlxlink", "-d", device, "-m", "-c", "-e"],
    )


def ask_supplicants(node: Node) -> dict[str, Any]:
    """Ask whether the switch has let each port in (802.1X). OCI names them rdma0, rdma1, …"""
    return _ask_each(
        node,
        "port_authentication",
        node.devices(NETWORK, "rdma[0-9]*", "interface named rdma*"),
        lambda interface: ["wpa_cli", "status", "-i", interface],
    )


def ask_nvme(node: Node) -> dict[str, Any]:
    """Ask every NVMe controller for its health."""
    return _ask_each(
        node,
        "nvme_health",
        node.devices(NVME, "nvme*", "NVMe drive"),
        lambda drive: ["nvme", "smart-log", f"/dev/{drive}", "-o", "json"],
    )


def _ask_each(
    node: Node, section: str, devices: list[str], command: Callable[[str], list[str]]
) -> dict[str, Any]:
    return {each: node.ask(command(each), report=f"{section}-{each}") for each in devices}
