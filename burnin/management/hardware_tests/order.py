"""The options that describe a run, and the order they make."""

import uuid
from argparse import ArgumentParser
from typing import Any

from burnin.hardware_tests.params import parse_params
from burnin.hardware_tests.registry import get_test_class
from burnin.hardware_tests.resource_classes import hardware_of
from burnin.hardware_tests.run_context import BadRunContext, RunContext, refuse_too_short
from burnin.slurm import hostlist
from burnin.workflow.render import Order
from runner.contract.wire import AttemptToken

DEFAULT_RESOURCE_CLASS = "cpu-generic"


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("slug", help="as `hardware_tests list` shows it")
    parser.add_argument(
        "--params", default="{}", metavar="JSON", help="see `hardware_tests schema`"
    )
    parser.add_argument("--partition", help="of Slurm; a site of the hub has its own")
    parser.add_argument("--timeout", required=True, type=int, metavar="MINUTES")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--nodelist", metavar="HOSTLIST", help="like n[1-4]; else any will do")
    where.add_argument("--nodes", type=int, help="how many, where any will do (1)")
    parser.add_argument("--iterations", type=int, default=1)
    parser.add_argument(
        "--resource-class",
        help=f"whose limits decide ({DEFAULT_RESOURCE_CLASS}); the hub knows each node's own",
    )


def order_from(options: dict[str, Any]) -> Order:
    """Return a new attempt of what was asked for, after every check that needs no cluster."""
    test_class = get_test_class(options["slug"])
    names = options["nodelist"]
    if options["partition"] is None:
        raise BadRunContext("no partition was named: give --partition")
    context = RunContext(
        token=AttemptToken(str(uuid.uuid4()), 1),
        partition=options["partition"],
        timeout_minutes=options["timeout"],
        nodelist=None if names is None else tuple(hostlist.expand_typed(names)),
        nodes=1 if options["nodes"] is None else options["nodes"],
        iterations=options["iterations"],
    )
    resource_class = options["resource_class"] or DEFAULT_RESOURCE_CLASS
    test_class.load_thresholds(resource_class)
    params = parse_params(test_class, options["params"])
    refuse_too_short(
        context,
        slug=test_class.slug,
        params=params,
        timed_phases=test_class.timed_phases(params.resolved()),
    )
    test = test_class()
    test.make_batch_config(context)  # refuses more nodes than the test is for
    return Order(test, params, context, hardware_of(resource_class))
