"""`hardware_tests evaluate`: judge artifacts that are here already, against a class's bounds."""

import json
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, OutputWrapper

from burnin.hardware_tests.artifacts import read_metadata
from burnin.hardware_tests.metadata import HardwareTestMetadata
from burnin.hardware_tests.params import parse_params
from burnin.hardware_tests.registry import get_test_class
from burnin.management.hardware_tests import verdict
from burnin.management.hardware_tests.order import DEFAULT_RESOURCE_CLASS
from burnin.slurm.states import outcome_of
from burnin.workflow.judge import EndedRun, judge
from fleet.management.command import EXIT_BAD_INPUT
from runner.contract import artifacts as contract
from runner.contract.wire import AttemptToken


def add_verbs(verbs: Any) -> None:
    parser = verbs.add_parser("evaluate", help="judge the artifacts of an attempt")
    parser.add_argument("slug", help="as `hardware_tests list` shows it")
    parser.add_argument("--artifacts", required=True, type=Path, metavar="DIR")
    parser.add_argument("--resource-class", default=DEFAULT_RESOURCE_CLASS)
    parser.add_argument(
        "--params", metavar="JSON", help="refuse artifacts of a run that was given others"
    )
    parser.add_argument("--token", metavar="RUN_ID:ATTEMPT", help="refuse artifacts of another one")
    parser.set_defaults(act=evaluate)


def evaluate(stdout: OutputWrapper, options: dict[str, Any]) -> int:
    test_class = get_test_class(options["slug"])
    test_class.load_thresholds(options["resource_class"])
    directory: Path = options["artifacts"]
    _require_attempt(directory)
    metadata = read_metadata(directory)
    found = AttemptToken(metadata.run_id, metadata.attempt)
    judgement = judge(
        EndedRun(
            test=test_class(),
            params=parse_params(test_class, options["params"] or _said_params(metadata)),
            token=_token(options["token"]) if options["token"] else found,
            resource_class=options["resource_class"],
            outcome=outcome_of("COMPLETED"),
            exit_code=None,
            requested_nodes=(),
            directory=directory,
        )
    )
    stdout.write(
        f"by the limits that this release ships for {options['resource_class']}; "
        "those of a hub may have been edited since"
    )
    verdict.write(stdout, judgement)
    return verdict.EXIT_CODES[judgement.verdict]


def _require_attempt(directory: Path) -> None:
    if not directory.is_dir():
        sentence = f"{directory} is no directory: give that of an attempt"
        raise CommandError(sentence, returncode=EXIT_BAD_INPUT)
    if not (path := directory / contract.METADATA).is_file():
        sentence = f"there is no {path}: it is no attempt, or one that did not end by itself"
        raise CommandError(sentence, returncode=EXIT_BAD_INPUT)


def _said_params(metadata: HardwareTestMetadata) -> str:
    return json.dumps(metadata.params or {})


def _token(text: str) -> AttemptToken:
    token = AttemptToken.parse(text)
    if token is None:
        raise CommandError(f"{text!r:.80} is no token: RUN_ID:ATTEMPT", returncode=EXIT_BAD_INPUT)
    return token
