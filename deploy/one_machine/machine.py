"""What this machine is to Slurm: one node of so many CPUs and so much memory."""

import os
import pwd
import re
from collections.abc import Iterator
from pathlib import Path

from deploy.cluster.layout import NODE_NAME
from deploy.one_machine.errors import CannotRun

FALLBACK_NAME = "this-machine"
OWN_MIB = 1024  # for hub, satellite and Slurm themselves
SHARE = 0.8  # of what is free besides: a machine with no memory left tests nothing
STEP_MIB = 64
LEAST_MIB = 256
# cgroup v2 and v1, as a container sees its own.
LIMITS = ("sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory/memory.limit_in_bytes")


def node_name(host_name: str) -> str:
    """Return the short host name, or another where Slurm could not take it."""
    short = host_name.partition(".")[0]
    return short if NODE_NAME.fullmatch(short) else FALLBACK_NAME


def refuse_nameless_user(uid: int) -> None:
    """Raise CannotRun for a user without a name, as containers may have: Slurm knows names only."""
    try:
        pwd.getpwuid(uid)
    except KeyError:
        raise CannotRun(
            f"user id {uid} has no name on this machine, and Slurm needs one: add it to "
            "/etc/passwd, or run this as another user"
        ) from None


def why_kernel_log_is_closed(device: str = "/dev/kmsg") -> str:
    """Say why the kernel log cannot be read by us, "" when it can."""
    try:
        os.close(os.open(device, os.O_RDONLY | os.O_NONBLOCK))
    except OSError as error:
        return error.strerror or str(error)
    return ""


def cpu_count() -> int:
    return len(os.sched_getaffinity(0))


def memory_for_tests_mib(root: Path = Path("/")) -> int:
    """Return how much memory tests may take now, MiB. Raises CannotRun if that is too little."""
    free = min(_free_mib(root), *_limits_mib(root))
    given = int((free - OWN_MIB) * SHARE) // STEP_MIB * STEP_MIB
    if given < LEAST_MIB:
        needed = OWN_MIB + int(LEAST_MIB / SHARE) + STEP_MIB
        raise CannotRun(
            f"this machine has {free} MiB of free memory, and {needed} are needed: end something, "
            "or give its container more"
        )
    return given


def _free_mib(root: Path) -> int:
    text = (root / "proc/meminfo").read_text()
    found = re.search(r"^MemAvailable:\s+(\d+) kB$", text, re.MULTILINE)
    if found is None:
        raise CannotRun("/proc/meminfo does not say how much memory is available: give --memory-mb")
    return int(found[1]) >> 10


def _limits_mib(root: Path) -> Iterator[int]:
    """Yield what a container may take; without a limit a number that limits nothing."""
    yield 1 << 40
    for name in LIMITS:
        try:
            words = (root / name).read_text().strip()
        except OSError:
            continue
        if words.isdecimal():
            yield int(words) >> 20
