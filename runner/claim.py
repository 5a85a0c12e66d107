"""The exclusive claim of an attempt: whoever holds it runs the workload, and nobody after."""

from __future__ import annotations

import json
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

CLAIM = "runner.claim"  # never removed: a crash after it must not lead to a second workload


class AlreadyClaimed(Exception):
    """Another start of this attempt works, or has worked. Trying again will not help."""

    def __init__(self, holder: str) -> None:
        super().__init__(f"this attempt is already claimed by {holder}; it runs only once")


def claim_attempt(directory: Path, holder: Mapping[str, object]) -> None:
    """Claim `directory` for this process or raise AlreadyClaimed naming who holds it.

    A link, not O_EXCL: over NFS a lost reply makes a create that worked say "exists", so what
    decides is whether the claim is our own file, not what the call said.
    """
    claim = directory / CLAIM
    ours = directory / f"{CLAIM}.{os.uname().nodename}.{os.getpid()}.{os.urandom(4).hex()}"
    _write_durably(ours, json.dumps(holder))
    try:
        os.link(ours, claim)
    except FileExistsError:
        if not claim.samefile(ours):
            raise AlreadyClaimed(claim.read_text(encoding="utf-8")) from None
    finally:
        ours.unlink()


def _write_durably(path: Path, text: str) -> None:
    with path.open("x", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
