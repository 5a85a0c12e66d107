"""What runs on the login host to submit a batch of jobs, each of them once.

Sent as source (`python3 -I -S -c SOURCE submit WORK_DIR GRACE_S [NAME ...]`, a tar on standard
input), so nothing has to be installed there. Standard library only, nothing newer than 3.6.

An attempt's claim is its directory below `attempts/`, made by one rename. Whoever holds the
lock in it may call sbatch; sbatch inherits the lock, so it stays held while sbatch lives,
whatever becomes of this process. What stands in `sbatch.out` is then the truth:
no file: never asked; a line with an id: accepted; neither: it is not known.
"""

import fcntl
import json
import os
import re
import secrets
import shutil
import subprocess
import sys
import tarfile
import time
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO, Any

NO_SLURM, BAD_INPUT = 127, 64
SBATCH_LIMIT_S = 120
STALE_UPLOAD_S = 3600
MEMBER = re.compile(r"([0-9a-f-]{36}\.[0-9]{1,6})/(script\.sh|context\.json)")
JOB_ID = re.compile(r"^([0-9]+)(;[^\s;]*)?\n", re.MULTILINE)

# The request may have reached the controller although no good answer came back.
IN_DOUBT = """socket timed out|zero bytes were|send failure|receive failure|shutdown failure
connection reset|broken pipe|communication |transport endpoint|zero length message
entire message|unexpected message"""
# Slurm did not take the job, but may later.
BACK_OFF = """job violates accounting/qos policy|slurm temporarily unable to accept job
unable to create job record, try again|requested nodes are busy|resource temporarily unavailable
requested partition configuration not available now|required partition not available
required node not available|requested reservation not usable now|requested reservation is in use
not available right now|standby mode|(connect failure)|munge encode failed"""
# Slurm did not take the job, and will say the same again.
REFUSED = """invalid partition|no partition specified|user's group not permitted|invalid account
invalid qos|invalid wckey|invalid feature|invalid preferred feature|invalid node name
requested node configuration is not available|memory specification can not be satisfied
requested nodes not in this partition|node count specification invalid|invalid license
cpu count specification invalid|task count specification invalid|invalid job credential
task distribution specification invalid|more processors requested|requested more tasks than
requested time limit is invalid|time limit specification required|invalid time-min
invalid generic resource|invalid gres|duplicate generic resource|invalid trackable resource
requested gres option unsupported|job dependency problem|access denied to requested reservation
requested reservation is invalid|invalid job array specification|access/permission denied
requested operation not supported|requested operation is presently disabled|invalid user id
invalid group id|pathname of a file|job size specification needs|memory required by task
job --batch option is invalid|only batch jobs are accepted|multiple partition job request
invalid accounting frequency|unspecified error|burst buffer|incompatible versions of client
dos line breaks|unable to open file|unrecognized option|invalid option|requires an argument
doesn't allow an argument|option '-|error: invalid --|invalid numeric value
this does not look like a batch script|batch script is empty|batch script contains only
invalid entry for --cluster"""
# The controller is away: the rest of the batch would fare no better.
AWAY = re.compile(r"standby mode|\(connect failure\)|munge encode failed", re.IGNORECASE)


def classify(words: "str") -> "str":
    """Translate what a failed sbatch said to "refused", "back_off" or "unknown"."""
    text = words.lower()
    for kind, phrases in (("unknown", IN_DOUBT), ("back_off", BACK_OFF), ("refused", REFUSED)):
        if any(phrase in text for phrase in re.split(r"[|\n]", phrases)):
            return kind
    return "unknown"


class Unusable(Exception):
    """This command cannot be done; `exit_code` tells the caller which sort it is."""

    def __init__(self, exit_code: "int", words: "str") -> "None":
        super().__init__(words)
        self.exit_code = exit_code


def main(argv: "list[str]", stdin: "IO[bytes]", stdout: "IO[bytes]") -> "int":
    """Submit; standard error says in one line what could not be done."""
    os.umask(0o077)
    _, work_dir, grace_s, *resubmit = argv
    try:
        submit(Path(work_dir), stdin, stdout, grace_s=float(grace_s), resubmit=frozenset(resubmit))
    except Unusable as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    except OSError as error:
        sys.stderr.write(f"{error.filename or work_dir}: {error.strerror or error}\n")
        return 1
    return 0


def submit(
    work_dir: "Path",
    stdin: "IO[bytes]",
    stdout: "IO[bytes]",
    *,
    grace_s: "float",
    resubmit: "frozenset[str]",
) -> "None":
    """Claim every attempt of the tar, then ask for them one by one; one JSON line for each."""
    if shutil.which("sbatch") is None:
        raise Unusable(NO_SLURM, "sbatch is not in PATH")
    attempts, clock, names = take_in(work_dir, stdin)
    environment = clean(os.environ)
    for name in names:
        now = time.time() - clock["offset_s"]
        renewable_before = now - grace_s if name in resubmit else 0.0
        answer = submit_one(attempts / name, renewable_before, environment)
        asked = asked_at(attempts / name) or now
        line = json.dumps(dict(answer, attempt=name, asked_s_ago=max(0.0, now - asked)))
        stdout.write(line.encode() + b"\n")
        stdout.flush()
        if answer.get("ends_batch"):
            return


def take_in(work_dir: "Path", stdin: "IO[bytes]") -> "tuple[Path, dict[str, Any], list[str]]":
    """Unpack the tar aside and rename each attempt into place; return their names in order."""
    sweep(work_dir / "incoming")
    upload, attempts = work_dir / "incoming" / secrets.token_hex(8), work_dir / "attempts"
    upload.mkdir(parents=True)
    attempts.mkdir(exist_ok=True)
    clock = login_clock(work_dir, upload)
    names = unpack(stdin, upload, json.dumps(clock))
    for name in names:
        claim(upload / name, attempts / name)
    shutil.rmtree(str(upload), ignore_errors=True)
    return attempts, clock, names


def submit_one(
    directory: "Path", renewable_before: "float", environment: "dict[str, str]"
) -> "dict[str, Any]":
    """Answer from the claim, or ask Slurm; never both in one go.

    An ask that left no id is renewed only if it was made before `renewable_before`.
    """
    lock = os.open(str(directory / "lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return {"kind": "unknown", "words": "another submit is at work on it"}
    else:
        known = recorded(directory)
        if known is None or (known["kind"] == "unknown" and asked_at(directory) < renewable_before):
            return ask(directory, lock, environment)
        return known
    finally:
        os.close(lock)


def recorded(directory: "Path") -> "dict[str, Any] | None":
    """Return what the claim holds; None if sbatch was never called for it."""
    refusal = read_if_there(directory / "refused")
    if refusal is not None:
        return {"kind": "refused", "words": refusal}
    output = read_if_there(directory / "sbatch.out")
    if output is None:
        return None
    found = JOB_ID.findall(output)
    if found:
        return {"kind": "accepted", "job_id": found[-1][0]}
    words = read_if_there(directory / "sbatch.err") or "sbatch was called"
    return {"kind": "unknown", "words": f"{words.strip()} (an earlier submit left no job id)"}


def ask(directory: "Path", lock: "int", environment: "dict[str, str]") -> "dict[str, Any]":
    """Call sbatch. Its words go straight to files: it may outlive us, and its id must not."""
    exit_code = run_sbatch(directory, lock, environment)
    known = recorded(directory)
    if known is not None and known["kind"] == "accepted":
        return known
    words = (read_if_there(directory / "sbatch.err") or "sbatch said nothing").strip()
    kind = classify(words) if exit_code > 0 else "unknown"
    if kind == "refused":
        write_whole(directory / "refused", words.encode())
    if kind == "back_off":
        (directory / "sbatch.out").unlink()  # it was not taken: as if it had never been asked
    ends_batch = kind == "unknown" or bool(kind == "back_off" and AWAY.search(words))
    return {"kind": kind, "words": words, "ends_batch": ends_batch}


def run_sbatch(directory: "Path", lock: "int", environment: "dict[str, str]") -> "int":
    """Return sbatch's exit code; negative when a signal or our limit ended it."""
    os.chdir(str(directory))
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
    errors = os.open("sbatch.err", flags, 0o600)
    output = os.open("sbatch.out", flags, 0o600)  # from here on this attempt has been asked for
    try:
        process = subprocess.Popen(
            ["sbatch", "--parsable", str(directory / "script.sh")],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            env=environment,
            pass_fds=(lock,),
        )
        return process.wait(SBATCH_LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()
    finally:
        os.close(errors)
        os.close(output)


def asked_at(directory: "Path") -> "float":
    """Return when sbatch was called, by the file server's clock; 0 if it was not."""
    try:
        return (directory / "sbatch.out").stat().st_mtime
    except OSError:
        return 0.0


def clean(environment: "Any") -> "dict[str, str]":
    """Drop what would change the job behind the script's back."""
    return {
        name: value
        for name, value in environment.items()
        if name == "SLURM_CONF" or not name.startswith(("SBATCH_", "SLURM_"))
    }


def claim(uploaded: "Path", directory: "Path") -> "None":
    """Move an attempt into place; if one stands there already, that one counts."""
    try:
        uploaded.rename(directory)
    except OSError:
        if not directory.is_dir():
            raise


def unpack(stdin: "IO[bytes]", upload: "Path", clock: "str") -> "list[str]":
    """Write the tar's attempts below `upload`; return their names in the tar's order."""
    names = []  # type: list[str]
    with tarfile.open(fileobj=stdin, mode="r|") as archive:
        for member in archive:
            match = MEMBER.fullmatch(member.name)
            content = archive.extractfile(member)
            if match is None or content is None:
                raise Unusable(BAD_INPUT, f"{member.name!r} is no file of an attempt")
            name, file_name = match.groups()
            if name not in names[-1:]:
                (upload / name).mkdir()
                (upload / name / "login-clock.json").write_text(clock)
                names.append(name)
            (upload / name / file_name).write_bytes(content.read())
    return names


def login_clock(work_dir: "Path", upload: "Path") -> "dict[str, Any]":
    """Compare this host's clock with that of whoever stamps work_dir's files."""
    probe = upload / "clock"
    probe.write_bytes(b"x")
    offset = time.time() - probe.stat().st_mtime
    return {"offset_s": offset, "filesystem": filesystem_of(work_dir)}


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


def write_whole(path: "Path", content: "bytes") -> "None":
    """Write by rename: a reader sees all of it or nothing."""
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    temporary.write_bytes(content)
    temporary.rename(path)


def read_if_there(path: "Path") -> "str | None":
    try:
        return path.read_bytes().decode(errors="replace")
    except FileNotFoundError:
        return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], sys.stdin.buffer, sys.stdout.buffer))
