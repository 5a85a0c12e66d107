"""Two nodes with RDMA cards: planted /sys trees, and stand-ins for Slurm and for perftest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from runner.tests.given import context_told, write_tool

CARDS = "sys/devices/pci0000:{bus}/0000:{bus}:01.0"
ADDRESSES = {"n1": "10.0.0.1", "n2": "10.0.0.2"}

# `srun` starts what it is given once on each node, or on the one that --nodelist names.
SRUN = r"""case "$*" in
*" facts "*) echo '{"rank": 0, "node_name": "n1"}'; echo '{"rank": 1, "node_name": "n2"}'; exit 0;;
esac
echo "$*" >> "$(dirname "$0")/asked"
nodes="n1 n2"
while :; do case $1 in
    --nodelist=*) nodes=${1#--nodelist=}; shift;;
    --*) shift;;
    *) break;;
esac; done
for node in $nodes; do SLURMD_NODENAME=$node "$@" || exit $?; done"""
NUMACTL = r"""while :; do case $1 in --*) shift;; *) break;; esac; done
exec "$@" """
# A server waits to be ended. A client, which is given an address last, waits for it to be there.
PERFTEST = r"""case $* in
--version) echo "Version: 6.06"; exit;;
*10.0.0.*) while [ ! -e "$0.is-up" ]; do sleep 0.01; done; rm "$0.is-up";;
*) touch "$0.is-up"; exec sleep 60;;
esac
{said}"""


def node_with(root: Path, ports: dict[str, dict[str, Any]], *, gpu_driver: str = "") -> None:
    """Plant the /sys of a node; each card has a GPU of this driver below the same switch."""
    for number, (device, port) in enumerate(ports.items()):
        switch = root / CARDS.format(bus=f"{0x10 + number:02x}")
        card = switch / f"0000:{0x80 + number:02x}:00.0"
        directory = card / "infiniband" / device
        said = {
            "device/numa_node": port.get("numa", 0),
            "ports/1/state": port.get("state", "4: ACTIVE"),
            "ports/1/rate": f"{port.get('rate', 400)} Gb/sec (4X NDR)",
            "ports/1/link_layer": port.get("link_layer", "InfiniBand"),
            **port.get("more", {}),
        }
        for name, text in said.items():
            path = directory / name if not name.startswith("device/") else card / name[7:]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{text}\n")
        (directory / "device").symlink_to(card)
        listed = root / "sys/class/infiniband"
        listed.mkdir(parents=True, exist_ok=True)
        (listed / device).symlink_to(directory)
        if gpu_driver:
            _plant_gpu(root, switch, number, gpu_driver)


def _plant_gpu(root: Path, switch: Path, number: int, driver: str) -> None:
    # Numbered the other way round than the cards, so that only nearness finds the right one.
    name = f"0000:{0xF0 - number:02x}:00.0"
    (switch / name).mkdir(parents=True)
    listed = root / "sys/bus/pci/drivers" / driver
    listed.mkdir(parents=True, exist_ok=True)
    (listed / name).symlink_to(switch / name)


def tools_of_pair(directory: Path, *perftest: str, said: str) -> Path:
    """Write the stand-ins and return their directory; `said` is what a client does."""
    write_tool(directory, "srun", SRUN)
    write_tool(directory, "numactl", NUMACTL)
    lines = [f"echo 'NodeName={name} NodeAddr={at} State=IDLE'" for name, at in ADDRESSES.items()]
    write_tool(directory, "scontrol", "\n".join(lines))
    for name in perftest:
        write_tool(directory, name, PERFTEST.format(said=said))
    return directory


def told_of_pair(slug: str, root: Path, **changes: Any) -> dict[str, Any]:
    return context_told(
        slug=slug,
        num_nodes=2,
        node_names=["n1", "n2"],
        facts_root=str(root / "%N"),
        **{"params": {"devices": []}, **changes},
    )
