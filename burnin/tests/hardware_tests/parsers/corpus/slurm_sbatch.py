from __future__ import annotations

from typing import Any

from burnin.slurm.parse_sbatch import SbatchAnswer


def as_expected(answer: SbatchAnswer) -> dict[str, Any]:
    return {"job_id": answer.job_id, "cluster": answer.cluster}
