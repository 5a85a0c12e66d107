"""`hardware_tests parse`: one tool's output as typed JSON, or the reason it is no measurement."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, OutputWrapper

from burnin.hardware_tests.parsers.refusal import ParseError
from burnin.hardware_tests.parsers.registry import parse_to_json
from burnin.management.hardware_tests.tools import TOOLS
from burnin.slurm.refusal import SlurmParseError
from fleet.management.command import EXIT_BAD_INPUT

MAX_BYTES = 64 << 20


def add_verbs(verbs: Any) -> None:
    parser = verbs.add_parser("parse", help="a tool's output as JSON")
    parser.add_argument("tool", help="one of " + ", ".join(TOOLS))
    parser.add_argument("file", type=Path)
    parser.set_defaults(act=parse)


def parse(stdout: OutputWrapper, options: dict[str, Any]) -> int:
    path: Path = options["file"]
    text = _read(path)
    try:
        stdout.write(parse_to_json(options["tool"], text, TOOLS))
    except (ParseError, SlurmParseError) as error:
        raise CommandError(f"{path} is refused ({error.kind}): {error.reason}") from error
    return 0


def _read(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            content = stream.read(MAX_BYTES + 1)
    except OSError as error:
        sentence = f"{path} cannot be read: {error.strerror}"
        raise CommandError(sentence, returncode=EXIT_BAD_INPUT) from error
    if len(content) > MAX_BYTES:
        sentence = f"{path} is larger than {MAX_BYTES >> 20} MiB: no tool's output is"
        raise CommandError(sentence, returncode=EXIT_BAD_INPUT)
    return content.decode(errors="replace")
