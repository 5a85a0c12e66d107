"""The command line: parse, run, say in one sentence what is missing."""

import argparse
import os
import signal
import sys
from typing import NoReturn

from deploy.cluster.errors import ClusterError
from deploy.one_machine import session
from deploy.one_machine.errors import CannotRun
from deploy.one_machine.place import ROOT

PORT_VARIABLE = "FLEET_PORT"
DIRECTORY = ROOT / "var" / "one-machine"
PORT_HELP = f"of the pages (8000, or the next free one; {PORT_VARIABLE} says it too)"
MEMORY_HELP = "that tests may take (80 %% of what is free beyond 1 GiB)"
BURN_IN_HELP = "burn the machine in again; only the first start does by itself"
EPILOG = "Ctrl-C ends all of it; what was measured stays, and the next start shows it."


def main(argv: list[str]) -> int:
    """Return the exit code: 0 when it was ended, 1 after one sentence that says what is wrong."""
    try:
        session.run(_wish(argv), _say)
    except (CannotRun, ClusterError) as error:
        print(f"make run: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:  # before there was anything to end
        return 130
    return 0


def _say(sentence: str) -> None:
    """Tell whoever started us; when nobody reads any more, let all of it end."""
    try:
        print(sentence, flush=True)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        os.kill(os.getpid(), signal.SIGTERM)


def _wish(argv: list[str]) -> session.Wish:
    parser = _Parser(prog="make run", usage="make run [RUN_OPTIONS='…']", epilog=EPILOG)
    add = parser.add_argument
    port = os.environ.get(PORT_VARIABLE) or 0
    add("--directory", default=DIRECTORY, help="where everything of it lies (var/one-machine)")
    add("--port", type=_port, default=port, help=PORT_HELP)
    add("--memory-mb", type=_memory_mib, default=0, help=MEMORY_HELP)
    add("--burn-in", action="store_true", help=BURN_IN_HELP)
    asked = parser.parse_args(argv)
    return session.Wish(str(asked.directory), asked.port, asked.memory_mb, asked.burn_in)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise CannotRun(f"{message}; `make run RUN_OPTIONS=--help` names all options")


def _port(text: str) -> int:
    return _within(text, 1, 65535, "a port")


def _memory_mib(text: str) -> int:
    return _within(text, 64, 1 << 24, "a size in MiB")


def _within(text: str, low: int, high: int, what: str) -> int:
    if not text.isdecimal() or not low <= int(text) <= high:
        raise argparse.ArgumentTypeError(f"{text!r} is not {what} from {low} to {high}")
    return int(text)
