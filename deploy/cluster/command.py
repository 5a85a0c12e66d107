"""The command line: parse, call, print one sentence."""

import argparse
import sys
from collections import Counter
from typing import Any

from deploy.cluster import layout, lifecycle, packages, ports, processes, redis
from deploy.cluster.errors import ClusterError
from deploy.cluster.layout import Cluster, Options

EPILOG = """
`up` starts what does not run and leaves the rest alone: it is safe at any time, after a crash too.
`down` ends every process and keeps all data; `wipe` deletes what `up` wrote as well.
`site-broker` makes the site's own Redis user and prints the URL that goes into its TOML file.
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
    for name in ("up", "down", "wipe", "status"):
        # An option that is not given is absent: `up` then keeps what the cluster was made with.
        one = commands.add_parser(name, argument_default=argparse.SUPPRESS)
        one.add_argument("directory", metavar="DIR", help="where everything of the cluster lives")
        if name == "up":
            _add_options(one)
    site = commands.add_parser("site-broker")
    site.add_argument("directory", metavar="DIR")
    site.add_argument("site", metavar="SITE", help="the site's name")
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
    up.add_argument("--no-login", action="store_false", dest="login", help="leave sshd out")
    up.add_argument("--node-name", metavar="NAME", help="name of the only node (n1)")
    up.add_argument("--node-roots", action="store_true", help="make every node its own machine")
    parts = up.add_mutually_exclusive_group()
    parts.add_argument(
        "--services",
        action="store_const",
        dest="parts",
        const=(layout.SLURM, layout.SERVICES),
        help="Redis, PostgreSQL and an S3 server besides; hub.env says how a hub reaches them",
    )
    parts.add_argument(
        "--only-services",
        action="store_const",
        dest="parts",
        const=(layout.SERVICES,),
        help="those three, and no Slurm",
    )
    up.add_argument("--first-port", type=int, help="first of the ports (any free ones)")


def _up(directory: str, arguments: dict[str, Any]) -> str:
    lists = {name: tuple(arguments[name]) for name in arguments.keys() & {"partitions", "settings"}}
    asked = arguments | lists
    Options(**asked)  # refuse what is malformed before anything is installed or written
    home = layout.resolve(directory)
    if layout.load(home) is None:
        layout.refuse_foreign(home, (*layout.DIRECTORIES, *layout.FILES))
    packages.install_missing(_groups(layout.load(home), asked))
    layout.prepare_directory(home)
    with lifecycle.exclusive(home):
        cluster = lifecycle.plan(home, asked)
        started = lifecycle.up(cluster)
    state = "up" if started else "up already"
    return "\n".join([f"The cluster in {home} is {state}: {_size(cluster)}.", *_exports(cluster)])


def _size(cluster: Cluster) -> str:
    slurm = f"{cluster.options.nodes} nodes"
    sizes = {layout.SLURM: slurm, layout.SERVICES: "Redis, PostgreSQL, S3"}
    return ", ".join(sizes[part] for part in cluster.options.parts)


def _exports(cluster: Cluster) -> list[str]:
    """Return what a shell is told to reach the cluster."""
    ways = {
        layout.SLURM: f"export SLURM_CONF={cluster.slurm_conf}",
        layout.SERVICES: f"set -a; . {cluster.hub_env}; set +a",
    }
    return [ways[part] for part in cluster.options.parts]


def _install(groups: list[str]) -> str:
    unknown = sorted(set(groups) - set(packages.GROUPS))
    if unknown:
        known = ", ".join(packages.GROUPS)
        raise ClusterError(f"no such group of packages: {unknown[0]}; there are {known}")
    installed = packages.install_missing(groups or packages.GROUPS)
    return f"Installed {', '.join(installed)}." if installed else "Every package is installed."


def _groups(known: Cluster | None, asked: dict[str, Any]) -> list[str]:
    options = known.options if known else Options(**asked)
    extra = [name for name in ("accounting", "login") if getattr(options, name)]
    groups = {layout.SLURM: ["cluster", "tools", *extra], layout.SERVICES: ["broker", "services"]}
    return [group for part in options.parts for group in groups[part]]


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
    del arguments
    home = layout.resolve(directory)
    if layout.load(home) is None:
        return f"There is no cluster in {home}."
    with lifecycle.exclusive(home):
        if cluster := layout.load(home):
            lifecycle.down(cluster)
            layout.remove(cluster)
            ports.release(home)
    return f"The cluster in {home} is gone."


def _status(directory: str, arguments: dict[str, Any]) -> str:
    del arguments
    home = layout.resolve(directory)
    cluster = layout.load(home)
    if cluster is None:
        raise ClusterError(f"there is no cluster in {home}")
    counts = Counter(process.name for process in processes.find(cluster))
    running = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
    return f"{home}: {running or 'nothing runs'}"


def _site_broker(directory: str, arguments: dict[str, Any]) -> str:
    home = layout.resolve(directory)
    cluster = layout.load(home)
    if cluster is None or layout.SERVICES not in cluster.options.parts:
        raise ClusterError(f"there are no services in {home}; `up --services` starts them")
    with lifecycle.exclusive(home):
        return redis.allow_site(cluster, arguments["site"])


COMMANDS = {
    "up": _up,
    "down": _down,
    "wipe": _wipe,
    "status": _status,
    "site-broker": _site_broker,
}
