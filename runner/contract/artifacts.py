"""What an attempt leaves behind: file names and the largest size of each, in bytes."""

from __future__ import annotations

STARTED = "started.json"  # written before the workload: which node, which facts
STDOUT = "stdout.txt"  # the workload's output, head and tail kept when it is too long
STDERR = "stderr.txt"
CUSTOM = "custom-artifacts.tar.gz"  # everything below results/
METADATA = "metadata.json"  # written last: its presence says the attempt is complete

MAX_BYTES = {
    STARTED: 1 << 20,
    STDOUT: 16 << 20,
    STDERR: 4 << 20,
    CUSTOM: 256 << 20,
    METADATA: 1 << 20,
}

# Below the attempt's directory in work_dir. Only the login host and the node see these.
SCRIPT = "script.sh"
CONTEXT = "context.json"
LOGIN_CLOCK = "login-clock.json"  # written by the login host when it claims the attempt
RESULTS_DIRECTORY = "results"

# Filesystems whose server stamps files, or that make node and login host one machine. Elsewhere
# (lustre, gpfs, beegfs, …) the client stamps, and the comparison would compare a clock to itself.
COMMON_CLOCK = frozenset(
    {"nfs", "nfs4", "ext2", "ext3", "ext4", "xfs", "btrfs", "tmpfs", "overlay", "zfs"}
)
