"""A tiny job of the site check's own: submitted, waited for, and read."""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from burnin.satellite.messages import CheckOrder
from burnin.satellite.node_probe import REPORT
from burnin.satellite.tracker import is_over
from burnin.slurm.cluster import Answer, Cluster, JobSnapshot, Submission
from runner.contract.artifacts import LOGIN_CLOCK
from runner.contract.wire import AttemptToken

START_WITHIN_S = 90.0
LOOK_EVERY_S = 1.0
SLURM_OUTPUT = "slurm.out"
LONGEST_REPORT_BYTES = 64 * 1024

Finite = Annotated[float, Field(allow_inf_nan=False)]


class Clock(BaseModel):
    """A clock minus that of whoever stamps work_dir's files, as seen from one place."""

    model_config = ConfigDict(frozen=True)

    offset_s: Finite
    filesystem: str


class NodeReport(BaseModel):
    """What the probe found on its node. A sentence says what is wrong; "" is well."""

    model_config = ConfigDict(frozen=True)

    nonce: str
    node_name: str
    python: str
    clock: Clock
    time: Annotated[float, Field(ge=0, lt=1e11, allow_inf_nan=False)]
    machine_id: str
    dmi_serial: str
    kernel_log: str
    upload: str

    @property
    def at(self) -> datetime:
        return datetime.fromtimestamp(self.time, UTC)


@dataclass(frozen=True)
class Probed:
    """What a node and the login host said of each other."""

    report: NodeReport
    login_clock: Clock


class ProbeFailed(Exception):
    """The job did not run to its end, or what it wrote did not come back."""


def probe_submission(order: CheckOrder, *, nonce: str) -> Submission:
    """Return the job. The URL goes into the context, which only our own user can read.

    Raises ProbeFailed for a site whose configuration no script may hold.
    """
    token = AttemptToken(order.request_id, 1)
    context = {"nonce": nonce, "facts_root": order.facts_root, "probe_url": order.probe_url}
    return Submission(token, _script(order, token), json.dumps(context).encode())


def _word(text: str) -> str:
    """Return one shell word. A line break inside quotes would end a directive of sbatch."""
    if not text.isprintable():
        raise ProbeFailed(f"{text!r:.100} holds what no script may hold: correct the site")
    return shlex.quote(text)


def _script(order: CheckOrder, token: AttemptToken) -> str:
    source = files("burnin.satellite").joinpath("node_probe.py").read_text()
    options = (
        f"--job-name={token.job_name}",
        f"--comment={token.comment}",
        f"--partition={order.partition}",
        "--nodes=1",
        "--ntasks=1",
        "--mem=64",
        "--time=2",
        "--no-requeue",
        f"--output={SLURM_OUTPUT}",
    )
    return "\n".join(
        [
            "#!/bin/bash",
            *(f"#SBATCH {_word(option)}" for option in options),
            "umask 077",
            f"export PATH={_word(order.node_path)}",
            f"exec {_word(order.node_python)} -I -S - <<'END_OF_PROBE'",
            source.rstrip("\n"),
            "END_OF_PROBE",
            "",
        ]
    )


class ProbeJob:
    """Runs one probe. `sleep` and `clock` are in seconds."""

    def __init__(
        self,
        cluster: Cluster,
        job: Submission,
        *,
        nonce: str,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._cluster, self._job, self._nonce = cluster, job, nonce
        self._sleep, self._clock = sleep, clock

    def run(self) -> Probed:
        """Submit, wait, and read what came of it. Raises ProbeFailed, and as the cluster does."""
        answer = self._cluster.submit([self._job])[self._job.token]
        if answer.kind in (Answer.REFUSED, Answer.BACK_OFF, Answer.NOT_ASKED):
            raise ProbeFailed(f"Slurm did not take the probe: {answer.words or answer.kind}")
        report = self._await_report()
        if report.nonce != self._nonce:
            raise ProbeFailed("the node read another file than the login host wrote")
        return Probed(report, self._login_clock())

    def _await_report(self) -> NodeReport:
        deadline = self._clock() + START_WITHIN_S
        while not (text := self._read(REPORT)):
            shown = self._shown()
            if shown is not None and is_over(shown):
                return self._last_chance(shown)
            if self._clock() > deadline:
                self._give_up(shown)
            self._sleep(LOOK_EVERY_S)
        return _parsed(text)

    def _last_chance(self, shown: JobSnapshot) -> NodeReport:
        """The job has ended; a file server may show its last file a little later."""
        self._sleep(LOOK_EVERY_S)
        if text := self._read(REPORT):
            return _parsed(text)
        words = self._read(SLURM_OUTPUT).decode(errors="replace").strip().splitlines()[-1:]
        said = f": {words[0]}" if words else ""
        raise ProbeFailed(
            f"the probe ended as {shown.state} on {shown.node_list or 'no node'} "
            f"and its report is not in work_dir on the login host{said}"
        )

    def _give_up(self, shown: JobSnapshot | None) -> None:
        if shown is not None:
            self._cluster.cancel([shown.job_id])
        where = f"is {shown.state} ({shown.reason})" if shown else "is not known to Slurm"
        raise ProbeFailed(f"the probe did not end within {START_WITHIN_S:.0f} s: it {where}")

    def _shown(self) -> JobSnapshot | None:
        return next(iter(self._cluster.observe().snapshots.get(self._job.token, [])), None)

    def _login_clock(self) -> Clock:
        try:
            return Clock.model_validate_json(self._read(LOGIN_CLOCK))
        except ValidationError as error:
            raise ProbeFailed(f"the login host left no readable {LOGIN_CLOCK}") from error

    def _read(self, name: str) -> bytes:
        return self._cluster.tail(self._job.token, name, offset=0, limit=LONGEST_REPORT_BYTES)


def _parsed(text: bytes) -> NodeReport:
    try:
        return NodeReport.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        raise ProbeFailed(f"the probe's report cannot be read: {first['msg']}") from error
