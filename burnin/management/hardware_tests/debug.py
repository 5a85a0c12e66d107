"""`hardware_tests debug`: everything known of one run, as one file to give away."""

import io
import string
import tarfile
import uuid
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, OutputWrapper

from burnin.models import TestRun
from burnin.workflow import wiring
from burnin.workflow.debug_bundle import debug_bundle
from fleet.management.command import EXIT_BAD_INPUT
from fleet.management.database import require_tables

SHORTEST, WHOLE = 4, 32  # digits of a run id
NAMED = 5  # so many runs that begin alike are named


def add_verbs(verbs: Any) -> None:
    parser = verbs.add_parser("debug", help="gather all that is known of a run")
    parser.add_argument(
        "run_id", help="as pages, logs and Slurm's --comment show it, or its first digits"
    )
    parser.set_defaults(act=debug)


def debug(stdout: OutputWrapper, options: dict[str, Any]) -> int:
    require_tables()
    run = _run(options["run_id"])
    files = debug_bundle(run, store=wiring.store(), now=wiring.SystemClock().now())
    path = Path(settings.VAR_DIR) / "debug" / f"{run.pk}.tar.gz"
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(f"{run.pk}/{name}")
            member.size, member.mode = len(content), 0o600
            archive.addfile(member, io.BytesIO(content))
    stdout.write(f"{run.slug} is {run.state} {run.verdict}".rstrip())
    stdout.write(files["history.txt"].decode().rstrip())
    stdout.write(str(path))
    return 0


def _run(text: str) -> TestRun:
    """Return the run of a whole id, of its first digits or of an attempt's token."""
    first, last = _span(text.partition(":")[0].strip(), text)
    found = list(
        TestRun.objects.filter(pk__range=(first, last))
        .select_related("site", "job")
        .order_by("pk")[: NAMED + 1]
    )
    if not found:
        raise CommandError(f"there is no run {text:.80}", returncode=EXIT_BAD_INPUT)
    if len(found) > 1:
        raise CommandError(_ambiguous(text, found), returncode=EXIT_BAD_INPUT)
    return found[0]


def _span(digits: str, text: str) -> tuple[uuid.UUID, uuid.UUID]:
    """Return the least and the greatest id that begin with these digits."""
    digits = digits.replace("-", "").lower()
    if not SHORTEST <= len(digits) <= WHOLE or not set(digits) <= set(string.hexdigits):
        sentence = (
            f"{text!r:.80} is no run id: give one like {uuid.UUID(int=0)}, or its first digits, "
            f"at least {SHORTEST}"
        )
        raise CommandError(sentence, returncode=EXIT_BAD_INPUT)
    return uuid.UUID(digits.ljust(WHOLE, "0")), uuid.UUID(digits.ljust(WHOLE, "f"))


def _ambiguous(text: str, found: list[TestRun]) -> str:
    named = "; ".join(f"{run.pk} ({run.slug}, {run.state})" for run in found[:NAMED])
    more = " and more" if len(found) > NAMED else ""
    return f"several runs begin with {text:.80}: {named}{more}; give more digits"
