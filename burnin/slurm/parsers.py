"""Which parser reads which Slurm command's output in `hardware_tests parse`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from burnin.slurm import (
    parse_hostlists,
    parse_sacct,
    parse_sbatch,
    parse_scontrol,
    parse_sinfo,
    parse_squeue,
)

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    Parser = Callable[[str], DataclassInstance]

PARSERS: Mapping[str, Parser] = {
    "slurm-hostlist": parse_hostlists.parse,
    "slurm-restd": parse_sinfo.restd,
    "slurm-sacct": parse_sacct.parse,
    "slurm-sbatch": parse_sbatch.parse,
    "slurm-scontrol-job": parse_scontrol.job,
    "slurm-scontrol-node": parse_scontrol.nodes,
    "slurm-sinfo": parse_sinfo.parse,
    "slurm-squeue": parse_squeue.parse,
}
