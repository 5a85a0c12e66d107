"""The test author's command line: from a definition to a verdict, before any page exists."""

import sys
from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any, NoReturn

from django.core.management.base import BaseCommand, CommandError, CommandParser

from burnin.management.hardware_tests import (
    bad_input,
    debug,
    dispatch,
    evaluate,
    generate_sbatch,
    parse,
    show,
)

EXIT_INTERRUPTED = 130


class VerbParser(CommandParser):
    """Ends with our code for bad input: argparse's 2 is the verdict "errored"."""

    def error(self, message: str) -> NoReturn:
        if not self.called_from_command_line:
            super().error(message)
        self.print_usage(sys.stderr)
        self.exit(bad_input.EXIT_BAD_INPUT, f"{self.prog}: {message}\n")


class Command(BaseCommand):
    help = "List, render, run, parse and judge hardware tests."
    requires_system_checks = ()  # a half-written test must still be listed and rendered

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(
            dest="verb", required=True, metavar="VERB", parser_class=VerbParser
        )
        for module in (show, generate_sbatch, dispatch, parse, evaluate, debug):
            module.add_verbs(verbs)

    def handle(self, *_: Any, act: Callable[..., int], **options: Any) -> None:
        try:
            exit_code = act(self.stdout, options)
        except bad_input.ERRORS as error:
            raise CommandError(str(error), returncode=bad_input.EXIT_BAD_INPUT) from error
        except KeyboardInterrupt as interrupt:
            raise CommandError(
                "ended at once; a job that Slurm has taken goes on (`squeue --me` shows it)",
                returncode=EXIT_INTERRUPTED,
            ) from interrupt
        except OSError as error:
            place = f"{error.filename}: " if error.filename else ""
            raise CommandError(
                f"{place}{error.strerror or error}", returncode=bad_input.EXIT_BAD_INPUT
            ) from error
        except bad_input.DATABASE_ERRORS as error:
            words = " ".join(str(error).split())
            raise CommandError(
                f"the hub's database cannot be used ({words}): see FLEET_DATABASE_URL, "
                "and run `manage.py migrate` if it is new",
                returncode=bad_input.EXIT_BAD_INPUT,
            ) from error
        if exit_code:
            sys.exit(exit_code)
