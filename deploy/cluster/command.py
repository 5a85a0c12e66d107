"""The command line: parse, call, print one sentence."""

import argparse
import sys
from collections import Counter
from typing import Any

from deploy.cluster import layout, lifecycle, packages, processes
from deploy.cluster.errors import ClusterError
from deploy.cluster.layout import Options

EPILOG = """
`up` starts what does not run and leaves the rest alone: it is safe at any time, after a crash too.
`down` ends every process and keeps all data; `wipe` deletes what `up` wrote as well.
`install` installs the Debian packages (some or all groups of them), which `up` does by itself.
"""


def main(argv: list[str]) -> int:
    """Return the exit code: 0, or 1 after one sentence that says what is wrong."""
    arguments = vars(_parser().parse_args(argv))
    command = arguments.pop("command")
    try:
        if command == "install":
            print(_install(arguments["groups"]))
        else:
            print(COMMANDS[command](arguments.pop("directory"), arguments))
    except ClusterError as error:
        print(f"cluster: {error}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python3 deploy/cluster",
        description=lifecycle.__doc__,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name in COMMANDS:
        # An option that is not given is absent: `up` then keeps what the cluster was made with.
        one = commands.add_parser(name, argument_default=argparse.SUPPRESS)
        one.add_argument("directory", metavar="DIR", help="where everything of the cluster lives")
        if name == "up":
            _add_options(one)
    install = commands.add_parser("install")
    install.add_argument("groups", nargs="*", metavar="GROUP", help=", ".join(packages.GROUPS))
    return parser


def _add_options(up: argparse.ArgumentParser) -> None:
    usual = Options()
    up.add_argument("--nodes", type=int, help=f"virtual nodes ({usual.nodes})")
    up.add_argument("--cpus", type=int, help=f"CPUs of each node ({usual.cpus})")
    up.add_argument("--memory-mb", type=int, help=f"memory of each node, MB ({usual.memory_mb})")
    up.add_argument("--gpus", type=int, help=f"fake GPUs of each node ({usual.gpus})")
    up.add_argument(
        "--partition",
        action="append",
        dest="partitions",
        metavar="NAME[:KEY=VALUE,…]",
        help="a partition of all nodes; repeatable, the first is the default"
        f" ({' and '.join(usual.partitions)})",
    )
    up.add_argument(
        "--set",
        action="append",
        dest="settings",
        metavar="KEY=VALUE",
        help="a line of slurm.conf, such as SlurmdTimeout=10; repeatable",
    )
    up.add_argument("--no-accounting", action="store_false", dest="accounting")
    up.add_argument("--node-roots", action="store_true", help="make every node its own machine")
    up.add_argument("--first-port", type=int, help="first of the ports (any free ones)")


def _up(directory: str, arguments: dict[str, Any]) -> str:
    lists = {name: tuple(arguments[name]) for name in arguments.keys() & {"partitions", "settings"}}
    asked = arguments | lists
    Options(**asked)  # refuse what is malformed before anything is installed or written
    home = layout.resolve(directory)
    packages.install_missing(_groups(asked))
    layout.prepare_directory(home)
    with lifecycle.exclusive(home):
        cluster = lifecycle.plan(home, asked)
        started = lifecycle.up(cluster)
    where = f"export SLURM_CONF={cluster.slurm_conf}"
    if not started:
        return f"The cluster in {home} is up already.\n{where}"
    return f"The cluster in {home} is up: {cluster.options.nodes} nodes.\n{where}"


def _install(groups: list[str]) -> str:
    unknown = sorted(set(groups) - set(packages.GROUPS))
    if unknown:
        known = ", ".join(packages.GROUPS)
        raise ClusterError(f"no such group of packages: {unknown[0]}; there are {known}")
    installed = packages.install_missing(groups or packages.GROUPS)
    return f"Installed {', '.join(installed)}." if installed else "Every package is installed."


def _groups(asked: dict[str, Any]) -> list[str]:
    accounting = asked.get("accounting", True)
    return ["cluster", "tools", *(["accounting"] if accounting else [])]


def _down(directory: str, arguments: dict[str, Any]) -> str:
    del arguments
    home = layout.resolve(directory)
    if layout.load(home) is None:
        return f"There is no cluster in {home}."
    with lifecycle.exclusive(home):
        cluster = layout.load(home)
        ended = lifecycle.down(cluster) if cluster else []
    if not ended:
        return f"The cluster in {home} is down already."
    return f"The cluster in {home} is down: {len(ended)} processes ended."


def _wipe(directory: str, arguments: dict[str, Any]) -> str:
    said = _down(directory, arguments)
    cluster = layout.load(layout.resolve(directory))
    if cluster is None:
        return said
    layout.remove(cluster)
    return f"The cluster in {cluster.directory} is gone."


def _status(directory: str, arguments: dict[str, Any]) -> str:
    del arguments
    home = layout.resolve(directory)
    cluster = layout.load(home)
    if cluster is None:
        raise ClusterError(f"there is no cluster in {home}")
    counts = Counter(process.name for process in processes.find(cluster))
    running = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
    return f"{home}: {running or 'nothing runs'}"


COMMANDS = {"up": _up, "down": _down, "wipe": _wipe, "status": _status}
