"""The Slurm commands we run, as argument lists. `burnin.slurm.parse` reads what they print."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def _names(prefix: str, words: str) -> tuple[str, ...]:
    return tuple(f"{prefix}{word}" for word in words.split())


# Set in a user's environment, these narrow or reshape what a command shows or does: a job that
# squeue does not show would be taken for one that Slurm never accepted.
_MEDDLING = (
    *_names("SQUEUE_", "ACCOUNT ALL ARRAY CLUSTERS FEDERATION FORMAT FORMAT2 LICENSES LOCAL"),
    *_names("SQUEUE_", "NAMES PARTITION PRIORITY QOS SIBLING SORT STATES USERS"),
    *_names("SCANCEL_", "ACCOUNT BATCH CTLD FULL HURRY INTERACTIVE NAME PARTITION QOS"),
    *_names("SCANCEL_", "RESERVATION SIGNAL STATE USER VERBOSE WCKEY"),
    *_names("SACCT_", "FEDERATION LOCAL"),
    *_names("SCONTROL_", "ALL FEDERATION FUTURE LOCAL SIBLING"),
    *_names("SLURM_", "CLUSTERS BITSTR_LEN DEBUG_FLAGS"),
)
_CLEAN = ("env", *(f"-u{name}" for name in _MEDDLING), "SLURM_TIME_FORMAT=%s")

SQUEUE_FIELDS = _names("", "JobID State exit_code DerivedEC NodeList UserName Reason Comment")
SACCT_FIELDS = _names("", "JobIDRaw JobName User State ExitCode DerivedExitCode NodeList Comment")


def limited(argv: Sequence[str], limit_s: int) -> list[str]:
    """End a client that hangs, also when nobody waits for it any more."""
    return ["timeout", "-k", "2", str(limit_s), *_CLEAN, *argv]


def squeue(mark: str) -> list[str]:
    """Ask for every job there is. `mark` makes a record's line known from text in a comment.

    Width 0 means "not cut off". The comment comes last: it is free text.
    """
    first, *others = SQUEUE_FIELDS
    fields = [f"{first}:0|{mark}|", *(f"{name}:0|" for name in others[:-1]), f"{others[-1]}:0"]
    return ["squeue", "-h", "-a", "-t", "all", "-O", ",".join(fields)]


def show_jobs() -> list[str]:
    return ["scontrol", "-a", "-o", "show", "job"]


def sacct(job_ids: Iterable[str]) -> list[str]:
    """Ask accounting for these jobs, each requeued run of them on its own line."""
    fields = ",".join(SACCT_FIELDS)
    jobs = ",".join(job_ids)
    return ["sacct", "-n", "-X", "-P", "-D", "--delimiter", "|", "-j", jobs, "-o", fields]


def scancel(job_ids: Iterable[str]) -> list[str]:
    return ["scancel", *job_ids]


def show_config() -> list[str]:
    return ["scontrol", "show", "config"]


def show_partitions() -> list[str]:
    return ["scontrol", "-a", "-o", "show", "partition"]


def show_nodes() -> list[str]:
    return ["scontrol", "-a", "-o", "show", "node"]


def drain_nobody(node_name: str) -> list[str]:
    """Ask to drain a node that does not exist: slurmctld checks first who asks."""
    return ["scontrol", "update", f"NodeName={node_name}", "State=DRAIN", "Reason=probe"]


def read_part(path: str, offset: int, limit: int) -> list[str]:
    """Read `limit` bytes of a file from a byte offset; not through a link, for a node aims it."""
    flags = "skip_bytes,count_bytes,fullblock,nofollow"
    return ["dd", f"if={path}", f"skip={offset}", f"count={limit}", f"iflag={flags}",
            "bs=65536", "status=none"]  # fmt: skip
