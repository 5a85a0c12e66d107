"""A root directory for each virtual node, so that nodes of one host are different machines."""

import uuid
from pathlib import Path

from deploy.cluster.layout import Cluster, write_whole

# The host's own, read through a link.
SHARED = ("proc", "dev", "sys/devices", "sys/kernel", "etc/os-release")


def write(cluster: Cluster) -> None:
    """Make `roots/<node>/` for every node, each with its own machine id and serial numbers."""
    for name in cluster.node_names:
        root = cluster.roots_directory / name
        identity = uuid.uuid5(uuid.NAMESPACE_URL, f"{cluster.directory}#{name}")
        _write_files(root, _identity_files(name, identity))
        for shared in SHARED:
            _link(root / shared, Path("/") / shared)


def _identity_files(name: str, identity: uuid.UUID) -> dict[str, str]:
    return {
        "etc/hostname": name,
        "etc/machine-id": identity.hex,
        "sys/class/dmi/id/product_serial": f"SN-{identity.hex[:12].upper()}",
        "sys/class/dmi/id/product_uuid": str(identity),
        "sys/class/dmi/id/product_name": "Virtual node",
        "sys/class/dmi/id/sys_vendor": "Fleet Manager",
    }


def _write_files(root: Path, files: dict[str, str]) -> None:
    for relative, text in files.items():
        path = root / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text + "\n")


def _link(link: Path, target: Path) -> None:
    link.parent.mkdir(parents=True, exist_ok=True)
    if not link.is_symlink():
        link.symlink_to(target)
