"""What runs on the login host to submit a batch of jobs, each of them once.

Sent as source (`python3 -I -S -c SOURCE submit WORK_DIR GRACE_S [NAME ...]`, a tar on standard
input), so nothing has to be installed there. Standard library only, nothing newer than 3.6.

An attempt's claim is its directory below `attempts/`, made by one rename. Whoever holds its
script's lock may call sbatch; sbatch inherits the lock, so it stays held while sbatch lives,
whatever becomes of this process. What stands in `sbatch.out` is then the truth:
no file: never asked; a line with an id: accepted; neither: it is not known.
"""

import fcntl
import json
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import IO, Any, NoReturn

NO_SLURM, BAD_INPUT = 69, 64
SBATCH_LIMIT_S = 120
STALE_UPLOAD_S = 3600
MEMBER = re.compile(r"([0-9a-f-]{36}\.[0-9]{1,6})/(script\.sh|context\.json)")
JOB_ID = re.compile(r"^([0-9]+)(;[^\s;]*)?\n", re.MULTILINE)

# The request may have reached the controller although no good answer came back.
IN_DOUBT = """socket timed out|zero bytes were|send failure|receive failure|shutdown failure
connection reset|broken pipe|communication |transport endpoint|length message|entire message
unexpected message"""
# Slurm did not take the job, but may later.
BACK_OFF = """job violates accounting/qos policy|slurm temporarily unable to accept job
unable to create job record, try again|requested nodes are busy|resource temporarily unavailable
requested partition configuration not available now|required partition not available
required node not available|requested reservation not usable now|requested reservation is in use
not available right now|standby mode|(connect failure)|munge encode failed
invalid authentication credential"""
# Slurm did not take the job, and will say the same again.
REFUSED = """submission failed: invalid|submission failed: requested|submission failed: job
submission failed: duplicate|submission failed: multiple|submission failed: more
submission failed: access|submission failed: unspecified error|submission failed: incompatible
submission failed: user's group|submission failed: no partition|submission failed: pathname
submission failed: time limit|submission failed: memory required|submission failed: only batch
submission failed: burst buffer|specification invalid|error: invalid|can not be satisfied
dos line breaks|unable to open file|unrecognized option|invalid option|requires an argument
doesn't allow an argument|option '-|batch script|invalid entry for --cluster
unable to allocate resources: requested node"""
# The controller is away: the rest of the batch would fare no better.
AWAY = re.compile(r"standby mode|\(connect failure\)|munge encode failed", re.IGNORECASE)


def classify(words: "str") -> "str":
    """Translate what a failed sbatch said to "refused", "back_off" or "unknown"."""
    text = words.lower()
    for kind, phrases in (("unknown", IN_DOUBT), ("back_off", BACK_OFF), ("refused", REFUSED)):
        if any(phrase in text for phrase in re.split(r"[|\n]", phrases)):
            return kind
    return "unknown"


def main(argv: "list[str]", stdin: "IO[bytes]", stdout: "IO[bytes]") -> "int":
    """Submit; standard error says in one line what could not be done."""
    os.umask(0o077)
    for name in list(os.environ):  # what would change the job behind the script's back
        if name != "SLURM_CONF" and name.startswith(("SBATCH_", "SLURM_")):
            del os.environ[name]
    _, work_dir, grace_s, *resubmit = argv
    try:
        submit(Path(work_dir), stdin, stdout, grace_s=float(grace_s), resubmit=frozenset(resubmit))
    except OSError as error:
        sys.stderr.write(f"{error.filename or work_dir}: {error.strerror or error}\n")
        return 1
    return 0


def give_up(exit_code: "int", words: "str") -> "NoReturn":
    sys.stderr.write(f"{words}\n")
    raise SystemExit(exit_code)


def submit(
    work_dir: "Path",
    stdin: "IO[bytes]",
    stdout: "IO[bytes]",
    *,
    grace_s: "float",
    resubmit: "frozenset[str]",
) -> "None":
    """Claim and ask for the tar's attempts one by one; one JSON line for each.

    The next attempt is unpacked while sbatch works for the one before.
    """
    if shutil.which("sbatch") is None:
        give_up(NO_SLURM, "sbatch is not in PATH")
    attempt = None
    for directory, offset_s in arrivals(work_dir, stdin):
        if attempt is not None and report(attempt, stdout) == "ends":
            return
        now = time.time() - offset_s
        attempt = Attempt(directory, now, now - grace_s if directory.name in resubmit else 0.0)
        attempt.begin()
    if attempt is not None:
        report(attempt, stdout)


def report(attempt: "Attempt", stdout: "IO[bytes]") -> "str":
    """Write the answer for an attempt; say whether it "ends" the batch or it "goes on"."""
    answer = attempt.finish()
    stdout.write(json.dumps(answer).encode() + b"\n")
    stdout.flush()
    is_in_doubt = attempt.sbatch is not None and answer["kind"] == "unknown"
    return "ends" if is_in_doubt or answer.get("away") else "goes on"


class Attempt:
    """One attempt's claim. It is answered from what stands there, or Slurm is asked; never both.

    An ask that left no id is renewed only if it was made before `renewable_before`.
    """

    def __init__(self, directory: "Path", now: "float", renewable_before: "float") -> "None":
        self.directory, self.now, self.renewable_before = directory, now, renewable_before
        self.output, self.refusal = directory / "sbatch.out", directory / "refused"
        self.answer = {}  # type: dict[str, Any]
        self.sbatch = None  # type: Any
        # The script is the lock: one file less to make, and NFS wants it writable.
        self.lock = os.open(str(directory / "script.sh"), os.O_RDWR | os.O_CLOEXEC)

    def begin(self) -> "None":
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.answer = {"kind": "unknown", "words": "another submit is at work on it"}
            return
        self.answer = self.recorded()
        is_renewed = (
            self.answer.get("kind") == "unknown" and self.asked_at() < self.renewable_before
        )
        if not self.answer or is_renewed:
            self.sbatch = self.start_sbatch()

    def finish(self) -> "dict[str, Any]":
        """Return the answer, with how long ago sbatch was called, and free the lock."""
        if self.sbatch is not None:
            exit_code = wait_for(self.sbatch)
            self.answer = self.judge(exit_code)
        os.close(self.lock)
        age_s = max(0.0, self.now - (self.asked_at() or self.now))
        return dict(self.answer, attempt=self.directory.name, asked_s_ago=age_s)

    def recorded(self) -> "dict[str, Any]":
        """Return what the claim holds; empty if sbatch was never called for it."""
        output = read_if_there(self.output)
        if output is None:
            return {}
        found = JOB_ID.findall(output)
        if found:
            return {"kind": "accepted", "job_id": found[-1][0]}
        refusal = read_if_there(self.refusal)
        if refusal is not None:
            return {"kind": "refused", "words": refusal}
        return {"kind": "unknown", "words": output.strip() or "sbatch left no job id"}

    def start_sbatch(self) -> "Any":
        """Call sbatch. It speaks straight to a file: it may outlive us, and its id must not."""
        os.chdir(str(self.directory))
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC
        output = os.open("sbatch.out", flags, 0o600)  # from here on it has been asked for
        try:
            return subprocess.Popen(
                ["sbatch", "--parsable", "script.sh"],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                pass_fds=(self.lock,),
            )
        finally:
            os.close(output)

    def judge(self, exit_code: "int") -> "dict[str, Any]":
        """Read what sbatch said. Negative: a signal or our limit ended it."""
        answer = self.recorded()
        if answer["kind"] == "accepted":
            return answer
        words = answer["words"]
        kind = classify(words) if exit_code > 0 else "unknown"
        if kind == "refused":
            whole = self.refusal.with_suffix(".whole")
            whole.write_text(words)
            whole.rename(self.refusal)
        if kind == "back_off":
            self.output.unlink()  # it was not taken: as if it had never been asked
        is_away = kind == "back_off" and AWAY.search(words) is not None
        return {"kind": kind, "words": words, "away": is_away}

    def asked_at(self) -> "float":
        """Return when sbatch was called, by the file server's clock; 0 if it was not."""
        try:
            return self.output.stat().st_mtime
        except OSError:
            return 0.0


def wait_for(process: "Any") -> "int":
    """Wait, and end what takes too long. `wait(timeout)` would poll, and cost more than sbatch."""
    signal.signal(signal.SIGALRM, lambda number, frame: process.kill())
    signal.alarm(SBATCH_LIMIT_S)
    try:
        return int(process.wait())
    finally:
        signal.alarm(0)


def arrivals(work_dir: "Path", stdin: "IO[bytes]") -> "Iterator[tuple[Path, float]]":
    """Unpack the tar aside and rename each attempt into place: it appears whole or not at all.

    If one stands there already, that one counts. Yields with each the clock's offset.
    """
    sweep(work_dir / "incoming")
    upload, attempts = work_dir / "incoming" / secrets.token_hex(8), work_dir / "attempts"
    upload.mkdir(parents=True)
    attempts.mkdir(exist_ok=True)
    clock = upload / "login-clock.json"
    offset_s = write_clock(clock, work_dir)
    try:
        for name in unpack(stdin, upload, clock):
            try:
                (upload / name).rename(attempts / name)
            except OSError:
                if not (attempts / name).is_dir():
                    raise
            yield attempts / name, offset_s
    finally:
        shutil.rmtree(str(upload), ignore_errors=True)


def unpack(stdin: "IO[bytes]", upload: "Path", clock: "Path") -> "Iterator[str]":
    """Write the tar's attempts below `upload`: of each first the script, then the context."""
    with tarfile.open(fileobj=stdin, mode="r|") as archive:
        for member in archive:
            match = MEMBER.fullmatch(member.name)
            content = archive.extractfile(member)
            if match is None or content is None:
                give_up(BAD_INPUT, f"{member.name!r} is no file of an attempt")
            name, file_name = match.groups()
            if file_name == "script.sh":
                (upload / name).mkdir()
            (upload / name / file_name).write_bytes(content.read())
            if file_name == "context.json":
                os.link(str(clock), str(upload / name / clock.name))
                yield name


def write_clock(path: "Path", work_dir: "Path") -> "float":
    """Compare this host's clock with that of whoever stamps work_dir's files; in seconds."""
    path.write_bytes(b"x")
    offset_s = time.time() - path.stat().st_mtime
    path.write_text(json.dumps({"offset_s": offset_s, "filesystem": filesystem_of(work_dir)}))
    return offset_s


def filesystem_of(path: "Path") -> "str":
    """Return the type of the filesystem that holds `path`; "unknown" if the kernel is silent."""
    target, best, kind = str(path.resolve()) + "/", "", "unknown"
    for line in Path("/proc/mounts").read_text().splitlines():
        _, mount, name = line.split()[:3]
        mount = mount.replace("\\040", " ").rstrip("/") + "/"
        if target.startswith(mount) and len(mount) >= len(best):
            best, kind = mount, name
    return kind


def sweep(incoming: "Path") -> "None":
    """Remove the uploads of submits that were killed."""
    for path in incoming.iterdir() if incoming.is_dir() else []:
        try:
            if time.time() - path.stat().st_mtime > STALE_UPLOAD_S:
                shutil.rmtree(str(path), ignore_errors=True)
        except OSError:
            continue  # another submit sweeps too


def read_if_there(path: "Path") -> "str | None":
    try:
        return path.read_bytes().decode(errors="replace")
    except FileNotFoundError:
        return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], sys.stdin.buffer, sys.stdout.buffer))
