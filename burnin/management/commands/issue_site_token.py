"""`issue_site_token <site>`: what its satellite shows to the hub, told once."""

import os
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.db import transaction
from django.utils import timezone

from burnin.models.audit import Actor
from burnin.workflow.site_tokens import issue_site_token
from fleet.management.command import EXIT_BAD_INPUT, HubCommand
from fleet.models import Site

PROGRAM = Actor("manage.py issue_site_token")


class Command(HubCommand):
    help = "Print a new token of a site, or write it into a file that only you can read."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("site")
        parser.add_argument("--file", type=Path, help="write it there (0600) instead; replaced")

    @transaction.atomic
    def handle(self, *_: Any, **options: Any) -> None:
        site = Site.objects.filter(name=options["site"]).first()
        if site is None:
            known = ", ".join(Site.objects.values_list("name", flat=True)) or "none"
            sentence = f"there is no site {options['site']!r:.60} (known: {known})"
            raise CommandError(sentence, returncode=EXIT_BAD_INPUT)
        token = issue_site_token(site, by=PROGRAM, now=timezone.now())
        if options["file"] is None:
            self.stdout.write(token)
            return
        try:
            _write(options["file"], token)
        except OSError as error:
            sentence = f"{options['file']} cannot be written: {error.strerror}"
            raise CommandError(sentence, returncode=EXIT_BAD_INPUT) from error


def _write(path: Path, token: str) -> None:
    draft = path.with_name(f".{path.name}.new")
    draft.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(token + "\n")
    draft.rename(path)
