"""What of its site a satellite can reach, in words: "" is well."""

from __future__ import annotations

from dataclasses import dataclass

from burnin.satellite.messages import LONGEST_WORDS
from burnin.slurm.cluster import (
    ClusterUnreachable,
    ControllerUnreachable,
    HostKeyRefused,
    LoginHostFailed,
    LoginRefused,
    NoSlurm,
    SlurmRefused,
)
from burnin.slurm.parse import UnreadableOutput

# Whatever a cluster can answer but a result.
CLUSTER_PROBLEMS = (
    ClusterUnreachable,
    HostKeyRefused,
    LoginHostFailed,
    LoginRefused,
    NoSlurm,
    SlurmRefused,
    UnreadableOutput,
)
_BEHIND_THE_LOGIN_HOST = (ControllerUnreachable, NoSlurm, SlurmRefused, UnreadableOutput)


@dataclass(frozen=True)
class Reach:
    login_host: str
    slurmctld: str
    accounting: str = ""


NOT_TRIED = Reach("not tried yet", "not tried yet")
WELL = Reach("", "")


def reach_after(problem: Exception) -> Reach:
    """Say what one failed look tells: the login host may be well while slurmctld is not."""
    words = clip(str(problem))
    if isinstance(problem, _BEHIND_THE_LOGIN_HOST):
        return Reach("", words)
    return Reach(words, "not asked: the login host does not serve us")


def clip(words: str, most: int = LONGEST_WORDS) -> str:
    """Shorten what a message has no room for, visibly."""
    return words if len(words) <= most else words[: most - 1] + "…"
