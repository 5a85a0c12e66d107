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
    new,
    outlook,
    parse,
    show,
    unread,
)
from fleet.management.command import EXIT_BAD_INPUT

EXIT_INTERRUPTED = 130


class VerbParser(CommandParser):
    """Ends with one sentence and our code for bad input: argparse's 2 is the verdict "errored"."""

    def error(self, message: str) -> NoReturn:
        if not self.called_from_command_line:
            super().error(message)
        words = f"{self.prog}: {message}; see `{self.prog} --help`\n"
        self.exit(EXIT_BAD_INPUT, words)


class Command(BaseCommand):
    help = "List, begin, render, run, parse and judge hardware tests."
    requires_system_checks = ()  # a half-written test must still be listed and rendered

    def create_parser(self, prog_name: str, subcommand: str, **options: Any) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, **options)
        parser.__class__ = VerbParser  # Django takes no class for it
        return parser

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(
            dest="verb", required=True, metavar="VERB", parser_class=VerbParser
        )
        for module in (show, outlook, new, generate_sbatch, dispatch, parse, evaluate, debug):
            module.add_verbs(verbs)

    def handle(self, *_: Any, act: Callable[..., int], **options: Any) -> None:
        try:
            exit_code = act(self.stdout, options)
            self.stdout.flush()
        except BrokenPipeError:
            unread.write_no_more(self.stdout)
            exit_code = unread.EXIT_UNREAD
        except bad_input.ERRORS as error:
            raise CommandError(str(error), returncode=EXIT_BAD_INPUT) from error
        except KeyboardInterrupt as interrupt:
            raise CommandError(
                "ended at once; a job that Slurm has taken goes on (`squeue --me` shows it)",
                returncode=EXIT_INTERRUPTED,
            ) from interrupt
        except OSError as error:
            place = f"{error.filename}: " if error.filename else ""
            raise CommandError(
                f"{place}{error.strerror or error}", returncode=EXIT_BAD_INPUT
            ) from error
        except bad_input.DATABASE_ERRORS as error:
            words = " ".join(str(error).split())
            raise CommandError(
                f"the hub's database cannot be used ({words}): see FLEET_DATABASE_URL, "
                "and run `manage.py migrate` if it is new",
                returncode=EXIT_BAD_INPUT,
            ) from error
        if exit_code:
            sys.exit(exit_code)
