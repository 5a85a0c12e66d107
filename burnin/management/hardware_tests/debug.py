"""`hardware_tests debug`: everything known of one run, as one file to give away."""

import io
import tarfile
import uuid
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, OutputWrapper

from burnin.management.hardware_tests.bad_input import EXIT_BAD_INPUT
from burnin.models import TestRun
from burnin.workflow import wiring
from burnin.workflow.debug_bundle import debug_bundle


def add_verbs(verbs: Any) -> None:
    parser = verbs.add_parser("debug", help="gather all that is known of a run")
    parser.add_argument("run_id", help="as pages, logs and Slurm's --comment show it")
    parser.set_defaults(act=debug)


def debug(stdout: OutputWrapper, options: dict[str, Any]) -> int:
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
    """Return the run. An attempt's token will do as well."""
    try:
        run_id = uuid.UUID(text.partition(":")[0])
    except ValueError:
        sentence = f"{text!r:.80} is no run id: it looks like {uuid.UUID(int=0)}"
        raise CommandError(sentence, returncode=EXIT_BAD_INPUT) from None
    run = TestRun.objects.filter(pk=run_id).select_related("site", "job").first()
    if run is None:
        raise CommandError(f"there is no run {run_id}", returncode=EXIT_BAD_INPUT)
    return run
