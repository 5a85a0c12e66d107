"""What runs on the login host to hand out an attempt's artifacts and to take a bundle.

Sent as source, like `login_host.py`: standard library only, and nothing newer than Python 3.6.
"""

import hashlib
import os
import secrets
import stat
import sys
import tarfile
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO, Any

BAD_INPUT, OVERSIZE = 64, 65


class Unusable(Exception):
    """This command cannot be done; `exit_code` tells the caller which sort it is."""

    def __init__(self, exit_code: "int", words: "str") -> "None":
        super().__init__(words)
        self.exit_code = exit_code


def main(argv: "list[str]", stdin: "IO[bytes]", stdout: "IO[bytes]") -> "int":
    """Do one verb; standard error says in one line what could not be done."""
    os.umask(0o077)
    verb, work_dir, arguments = argv[0], Path(argv[1]), argv[2:]
    try:
        if verb == "fetch":
            fetch(work_dir / "attempts" / arguments[0], arguments[1:], stdout)
        elif verb == "has-bundle":
            has_bundle(work_dir / "bundles" / arguments[0], arguments[1], stdout)
        else:
            put_bundle(work_dir / "bundles" / arguments[0], arguments[1], stdin.read())
    except Unusable as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    except OSError as error:
        sys.stderr.write(f"{error.filename or work_dir}: {error.strerror or error}\n")
        return 1
    return 0


def fetch(attempt: "Path", wanted: "list[str]", stdout: "IO[bytes]") -> "None":
    """Write a tar of those `wanted` files (NAME=MAX_BYTES) that the attempt has."""
    with tarfile.open(fileobj=stdout, mode="w|", format=tarfile.PAX_FORMAT) as archive:
        for argument in wanted:
            name, limit = argument.split("=")
            add_artifact(archive, attempt / name, int(limit))


def add_artifact(archive: "Any", path: "Path", limit: "int") -> "None":
    """Add one file, if it is there. A link is not followed: the node's user could aim it."""
    try:
        descriptor = os.open(str(path), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise Unusable(BAD_INPUT, f"{path} is not a plain file")
    with os.fdopen(descriptor, "rb") as content:
        if status.st_size > limit:
            words = f"{path} is {status.st_size} bytes long; at most {limit} are taken"
            raise Unusable(OVERSIZE, words)
        member = tarfile.TarInfo(path.name)
        member.size, member.mtime = status.st_size, int(status.st_mtime)
        archive.addfile(member, content)


def has_bundle(path: "Path", sha256: "str", stdout: "IO[bytes]") -> "None":
    """Say "yes" when the bundle stands there with this sha256."""
    found = path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == sha256
    stdout.write(b"yes" if found else b"no")


def put_bundle(path: "Path", sha256: "str", content: "bytes") -> "None":
    """Put the bundle in place, whole or not at all."""
    if hashlib.sha256(content).hexdigest() != sha256:
        raise Unusable(BAD_INPUT, f"{path.name} arrived damaged; send it again")
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    with temporary.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    temporary.rename(path)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], sys.stdin.buffer, sys.stdout.buffer))
