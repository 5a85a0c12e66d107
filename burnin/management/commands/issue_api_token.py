"""`issue_api_token <user>`: what a script of theirs shows to the hub, told once."""

from argparse import ArgumentParser
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import CommandError
from django.utils import timezone

from burnin.models.audit import Actor
from burnin.workflow.tokens import issue_token
from fleet.management.command import EXIT_BAD_INPUT, HubCommand
from fleet.models.api_token import LONGEST_LIFE, BadToken, Scope

PROGRAM = Actor("manage.py issue_api_token")


class Command(HubCommand):
    help = "Print a new token of a user. It may do what the user may, within its scopes."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("user")
        parser.add_argument("--name", required=True, help="what it is for")
        parser.add_argument(
            "--scope", action="append", choices=Scope.values, help="may be repeated (read)"
        )
        parser.add_argument("--days", type=int, default=90, help="how long it lives (90)")

    def handle(self, *_: Any, **options: Any) -> None:
        user = User.objects.filter(username=options["user"]).first()
        if user is None:
            raise _refused(f"there is no user {options['user']!r:.80}: add them in the admin")
        now = timezone.now()
        try:
            _token, text = issue_token(
                user,
                name=options["name"],
                scopes=options["scope"] or [Scope.READ],
                expires_at=_after(options["days"], now),
                by=PROGRAM,
                now=now,
            )
        except BadToken as error:
            raise _refused(str(error)) from error
        self.stdout.write(text)


def _after(days: int, now: datetime) -> datetime:
    """Return the end; one that is refused for whatever lies beyond the calendar."""
    return now + timedelta(days=max(0, min(days, LONGEST_LIFE.days + 1)))


def _refused(sentence: str) -> CommandError:
    return CommandError(sentence, returncode=EXIT_BAD_INPUT)
