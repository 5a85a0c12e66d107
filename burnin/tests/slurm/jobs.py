"""Jobs for tests: what they write is how a test counts the workloads that really ran."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from typing import TypeVar

from burnin.slurm.cluster import Submission
from runner.contract.wire import AttemptToken

T = TypeVar("T")


def new_token(attempt: int = 1) -> AttemptToken:
    return AttemptToken(str(uuid.uuid4()), attempt)


def submission(token: AttemptToken, body: str = "true", *options: str) -> Submission:
    """A job that first leaves one line in `ran` for each start of it."""
    header = [
        f"--job-name={token.job_name}",
        f"--comment={token.comment}",
        "--output=slurm.out",
        "--no-requeue",
        "--mem=10",
        *options,
    ]
    lines = ["#!/bin/bash", *(f"#SBATCH {option}" for option in header), "echo x >> ran", body, ""]
    return Submission(token, "\n".join(lines), b'{"schema": 1}')


def until(look: Callable[[], T | None], *, within_s: float = 20, what: str) -> T:
    """Look until there is something to see; fail in words when it does not come."""
    deadline = time.monotonic() + within_s
    while not (seen := look()):
        assert time.monotonic() < deadline, f"waited {within_s:g} s for {what}"
        time.sleep(0.05)
    return seen
