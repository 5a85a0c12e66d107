"""The hello-world payload by submitit. Run in submitit's own environment."""

import os
import shlex
import subprocess
import sys
from pathlib import Path


def payload() -> int:
    """Run the payload in a directory of this job's own."""
    here = Path(os.environ["BENCH_DIRECTORY"], os.environ["SLURM_JOB_ID"])
    here.mkdir(parents=True)
    return subprocess.run(shlex.split(os.environ["BENCH_PAYLOAD"]), cwd=here, check=True).returncode


def main(folder: str, count: int) -> None:
    import submitit  # type: ignore[import-not-found]

    executor = submitit.AutoExecutor(folder=folder, cluster="slurm")
    executor.update_parameters(
        slurm_partition=os.environ["BENCH_PARTITION"],
        timeout_min=5,
        nodes=1,
        slurm_additional_parameters={"exclusive": True},
    )
    jobs = [executor.submit(payload) for _ in range(count)]
    if any(job.result() for job in jobs):
        sys.exit("a payload failed")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
