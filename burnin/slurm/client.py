"""The real cluster: Slurm's commands, and our script for the login host, over a Shell."""

from __future__ import annotations

import hashlib
import io
import json
import re
import secrets
import tarfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from pathlib import PurePosixPath

from burnin.slurm import commands, login_host, parse
from burnin.slurm.cluster import (
    AccountingUnreachable,
    Answer,
    ClusterFacts,
    ControllerUnreachable,
    JobSnapshot,
    LoginHostFailed,
    Node,
    NoSlurm,
    Observation,
    SlurmRefused,
    Submission,
    SubmitAnswer,
)
from burnin.slurm.shell import Completed, Shell
from runner.contract import artifacts
from runner.contract.wire import AttemptToken

QUERY_LIMIT_S = 30
SUBMIT_LIMIT_S = 180  # longer than sbatch's own limit on the login host
SUBMIT_LIMIT_PER_JOB_S = 2
TRANSFER_LIMIT_S = 600
CANCELS_PER_COMMAND = 500
ARTIFACTS = tuple(f"{name}={limit}" for name, limit in artifacts.MAX_BYTES.items())
_NO_CONFIGURATION = re.compile(r"Could not establish a configuration source|slurm\.conf", re.I)
_NO_SUCH_JOB = re.compile(r"Invalid job id specified", re.IGNORECASE)
_NO_ACCOUNTING = re.compile(r"accounting storage is disabled", re.IGNORECASE)
_AWAY = re.compile(
    r"unable to contact|timed out|connect failure|zero bytes|standby mode|connection re"
    r"|send failure|receive failure|munge|communication ",
    re.IGNORECASE,
)


def _now() -> datetime:
    return datetime.now(UTC)


class SlurmClient:
    """Obeys `burnin.slurm.cluster.Cluster`. Safe to share between threads if its shell is."""

    def __init__(
        self,
        shell: Shell,
        *,
        work_dir: str,
        python: str = "python3",
        now: Callable[[], datetime] = _now,
    ) -> None:
        if not PurePosixPath(work_dir).is_absolute():
            raise ValueError(f"work_dir must be an absolute path, not {work_dir!r}")
        self._shell, self._work_dir, self._python, self._now = shell, work_dir, python, now
        self._user = ""

    def submit(
        self,
        submissions: Sequence[Submission],
        *,
        resubmit: frozenset[AttemptToken] = frozenset(),
    ) -> dict[AttemptToken, SubmitAnswer]:
        """Submit a batch in one exec.

        After ClusterUnreachable, submit the same batch again: the claims on the login host
        tell which of its jobs Slurm has.
        """
        if not submissions:
            return {}
        grace_s = self.facts().message_timeout_s if resubmit else 0
        arguments = [str(grace_s), *sorted(token.directory for token in resubmit)]
        limit_s = SUBMIT_LIMIT_S + SUBMIT_LIMIT_PER_JOB_S * len(submissions)
        batch = batch_tar(submissions)
        output = self._login_host("login_host.py", "submit", arguments, batch, limit_s=limit_s)
        tokens = {job.token.directory: job.token for job in submissions}
        answers = dict.fromkeys(tokens.values(), SubmitAnswer(Answer.NOT_ASKED))
        try:
            return {**answers, **dict(_answer(line, tokens) for line in output.splitlines())}
        except (ValueError, KeyError) as error:
            raise LoginHostFailed(
                f"submit answered what cannot be read: {output[:200]!r}"
            ) from error

    def observe(self) -> Observation:
        user, mark, at = self._own_user(), f"m{secrets.token_hex(6)}", self._now()
        text = self._ask(commands.squeue(mark))
        return Observation(at, parse.squeue(text, mark=mark, user=user))

    def look_up(self, jobs: Mapping[str, AttemptToken]) -> dict[str, JobSnapshot]:
        """Ask scontrol once for all jobs, then accounting for those that are still missing."""
        if not jobs:
            return {}
        found = parse.shown_jobs(self._ask(commands.show_jobs()), jobs, user=self._own_user())
        missing = {job_id: token for job_id, token in jobs.items() if job_id not in found}
        try:
            return {**found, **self._accounted(missing)}
        except ControllerUnreachable as error:
            raise AccountingUnreachable(str(error), found) from error

    def cancel(self, job_ids: Iterable[str]) -> None:
        ids = list(job_ids)
        for start in range(0, len(ids), CANCELS_PER_COMMAND):
            self._ask(commands.scancel(ids[start : start + CANCELS_PER_COMMAND]))

    def tail(self, token: AttemptToken, name: str, *, offset: int, limit: int) -> bytes:
        inside = PurePosixPath(name)
        if inside.is_absolute() or ".." in inside.parts:
            raise ValueError(f"{name!r} is not inside the attempt's directory")
        path = PurePosixPath(self._work_dir, "attempts", token.directory, inside)
        done = self._run(commands.read_part(str(path), offset, limit))
        if done.exit_code == 0:
            return done.stdout
        words = done.stderr.decode(errors="replace")
        if "No such file" in words:
            return b""
        raise LoginHostFailed(f"{path} cannot be read: {words.strip()}")

    def fetch(self, token: AttemptToken) -> bytes:
        arguments = [token.directory, *ARTIFACTS]
        return self._login_host("login_files.py", "fetch", arguments, limit_s=TRANSFER_LIMIT_S)

    def deploy_bundle(self, name: str, content: bytes) -> str:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
            raise ValueError(f"{name!r} is no file name for a bundle")
        arguments = [name, hashlib.sha256(content).hexdigest()]
        if self._login_host("login_files.py", "has-bundle", arguments) != b"yes":
            limit_s = TRANSFER_LIMIT_S
            self._login_host("login_files.py", "put-bundle", arguments, content, limit_s=limit_s)
        return str(PurePosixPath(self._work_dir, "bundles", name))

    def facts(self) -> ClusterFacts:
        config = self._ask(commands.show_config())
        return parse.facts(config, self._ask(commands.show_partitions()))

    def nodes(self) -> dict[str, Node]:
        return parse.nodes(self._ask(commands.show_nodes()))

    def login_python(self) -> str:
        return self._python_says("import sys; print('.'.join(map(str, sys.version_info[:3])))")

    def login_time(self) -> datetime:
        said = self._python_says("import time; print(time.time())")
        try:
            return datetime.fromtimestamp(float(said), UTC)
        except (ValueError, OverflowError, OSError) as error:
            raise LoginHostFailed(f"the login host says it is {said!r:.80}") from error

    def _python_says(self, code: str) -> str:
        done = self._run([self._python, "-I", "-S", "-c", code])
        if done.exit_code != 0:
            words = done.stderr.decode(errors="replace").strip()
            raise LoginHostFailed(f"{self._python} does not run on the login host: {words}")
        return done.stdout.decode().strip()

    def may_drain(self) -> bool:
        try:
            self._ask(commands.drain_nobody(f"no-such-node-{secrets.token_hex(8)}"))
        except SlurmRefused as refusal:
            return "invalid node name" in refusal.stderr.lower()
        return False  # it cannot have been drained; whatever was answered is no permission

    def _own_user(self) -> str:
        if not self._user:
            self._user = self._ask(["id", "-un"]).strip()
        return self._user

    def _accounted(self, jobs: Mapping[str, AttemptToken]) -> dict[str, JobSnapshot]:
        """Where accounting is off nobody knows these jobs. Raises ControllerUnreachable."""
        if not jobs:
            return {}
        try:
            text = self._ask(commands.sacct(jobs))
        except SlurmRefused as refusal:
            if _NO_ACCOUNTING.search(refusal.stderr) or _NO_SUCH_JOB.search(refusal.stderr):
                return {}
            raise ControllerUnreachable(str(refusal)) from refusal
        return parse.sacct(text, jobs=jobs, user=self._own_user())

    def _ask(self, argv: Sequence[str]) -> str:
        """Run a Slurm command and return what it printed."""
        done = self._run(argv)
        words = done.stderr.decode(errors="replace")
        if done.exit_code == 0:
            return done.stdout.decode(errors="replace")
        if done.exit_code in (124, 137):
            raise ControllerUnreachable(f"`{argv[0]}` did not end within {QUERY_LIMIT_S} s")
        if done.exit_code == 127 or _NO_CONFIGURATION.search(words):
            raise _no_slurm(argv[0], words)
        if _AWAY.search(words):
            raise ControllerUnreachable(f"`{argv[0]}`: {words.strip()}")
        raise SlurmRefused(" ".join(argv), done.exit_code, words)

    def _run(self, argv: Sequence[str]) -> Completed:
        limit_s = QUERY_LIMIT_S + 10
        return self._shell.run(commands.limited(argv, QUERY_LIMIT_S), timeout_s=limit_s)

    def _login_host(
        self,
        script: str,
        verb: str,
        arguments: Sequence[str],
        stdin: bytes = b"",
        *,
        limit_s: float = QUERY_LIMIT_S,
    ) -> bytes:
        """Run our script on the login host and return what it printed."""
        argv = [self._python, "-I", "-S", "-c", _source(script), verb, self._work_dir, *arguments]
        done = self._shell.run(argv, stdin, timeout_s=limit_s)
        if done.exit_code == 0:
            return done.stdout
        words = done.stderr.decode(errors="replace").strip()
        if done.exit_code == login_host.NO_SLURM:
            raise _no_slurm("sbatch", words)
        raise LoginHostFailed(f"{verb} failed on the login host: {words or done.exit_code}")


@cache
def _source(script: str) -> str:
    return files("burnin.slurm").joinpath(script).read_text()


def _no_slurm(command: str, words: str) -> NoSlurm:
    last = words.strip().splitlines()[-1:] or [f"{command} is not in PATH"]
    return NoSlurm(f"no Slurm on this machine: {last[0]}; install slurm-client or set SLURM_CONF")


def batch_tar(submissions: Sequence[Submission]) -> bytes:
    """Pack the batch: for each attempt its directory's script and context."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for job in submissions:
            script = job.script.encode()
            for name, content in ((artifacts.SCRIPT, script), (artifacts.CONTEXT, job.context)):
                member = tarfile.TarInfo(f"{job.token.directory}/{name}")
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def _answer(line: bytes, tokens: Mapping[str, AttemptToken]) -> tuple[AttemptToken, SubmitAnswer]:
    """Read one line of submit; KeyError or ValueError when it lacks what its kind needs."""
    found = json.loads(line)
    kind = Answer(found["kind"])
    job_id = found["job_id"] if kind is Answer.ACCEPTED else ""
    answer = SubmitAnswer(kind, job_id, found.get("words", ""), found["asked_s_ago"])
    return tokens[found["attempt"]], answer
