"""The processes of ours that work with the hub's rows: `hub_side prepare` and `hub_side attend`."""

import argparse
import importlib
import sys
from datetime import UTC, datetime
from pathlib import Path

import django
from django.core.management import CommandError


def main(argv: list[str]) -> int:
    """Return the exit code: 0, or 1 after one sentence."""
    asked = _parser().parse_args(argv)
    django.setup()
    importlib.import_module("fleet.celery")  # so that what is rung goes into the hub's queue
    from deploy.one_machine import attendant, prepare  # models can be imported from here on

    try:
        if asked.command == "prepare":
            prepare.prepare(asked.site_file, asked.password_file)
        else:
            since = datetime.fromtimestamp(asked.since, UTC)
            wish = attendant.Wish(asked.node, asked.token, since, asked.burn_in)
            attendant.attend(wish, asked.password_file)
    except CommandError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="hub_side")
    commands = parser.add_subparsers(dest="command", required=True)
    prepare = commands.add_parser("prepare")
    prepare.add_argument("--site-file", type=Path, required=True)
    attend = commands.add_parser("attend")
    attend.add_argument("--node", required=True)
    attend.add_argument("--token", required=True)
    attend.add_argument("--since", type=float, required=True)
    attend.add_argument("--burn-in", action="store_true")
    for each in (prepare, attend):
        each.add_argument("--password-file", type=Path, required=True)
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
