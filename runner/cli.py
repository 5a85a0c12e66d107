"""The runner's command line. Parsed by hand: `argparse` would cost a third of our start."""

from __future__ import annotations

import json
import os
import sys
import time
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from runner.contract.wire import ExitCode
from runner.program import bundle, this_program
from runner.registry import EXECUTORS, get_executor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

USAGE = """usage: runner.pyz run SLUG --workspace DIR (--config-file FILE | --config-json TEXT)
       runner.pyz list [--json]
       runner.pyz facts --json [--facts-root DIR]
       runner.pyz work NAME ARGUMENT…
       runner.pyz --version"""


class BadCommandLine(Exception):
    """What was asked for makes no sense; the message says why."""


def main(argv: Sequence[str]) -> int:
    """Do what `argv` asks for and return the exit code."""
    verbs = {
        "run": _run,
        "list": _list,
        "facts": _facts,
        "work": _work,
        "--version": _version,
        "--help": _help,
    }
    try:
        verb = verbs.get(argv[0]) if argv else None
        if verb is None:
            raise BadCommandLine(f"unknown command {' '.join(argv[:1])!r}\n{USAGE}")
        return verb(argv[1:])
    except BadCommandLine as error:
        return _refuse(ExitCode.BAD_CONTEXT, str(error))


def _run(argv: Sequence[str]) -> int:
    from runner.attempt import Attempt
    from runner.claim import AlreadyClaimed
    from runner.context import BadContext, check_params, parse_context
    from runner.facts import SlurmJob

    slug, options = _slug(argv), _options(argv[1:])
    try:
        context = parse_context(_config(options), slug=slug)
        executor = get_executor(slug)
        check_params(context, executor.reads)
    except BadContext as error:
        return _refuse(ExitCode.BAD_CONTEXT, str(error))
    slurm = SlurmJob(os.environ)
    if slurm.restarted:
        return _refuse(ExitCode.REQUEUED, "Slurm started this attempt again; it runs only once")
    attempt = Attempt(
        context,
        executor,
        directory=_enter(_required(options, "--workspace")),
        slurm=slurm,
        program=this_program(),
        version=bundle_version(),
        age_s=process_age_s(),
    )
    try:
        return attempt.run()
    except AlreadyClaimed as error:
        return _refuse(ExitCode.ALREADY_CLAIMED, str(error))


def _list(argv: Sequence[str]) -> int:
    options = _options(argv)
    rows = [{"slug": slug, "reads": sorted(get_executor(slug).reads)} for slug in EXECUTORS]
    print(json.dumps(rows) if "--json" in options else "\n".join(EXECUTORS))
    return ExitCode.RAN


def _facts(argv: Sequence[str]) -> int:
    from runner.facts import facts_line

    print(facts_line(os.environ, _options(argv).get("--facts-root", "/")), flush=True)
    return ExitCode.RAN


def _work(argv: Sequence[str]) -> int:
    """Be one of the processes that a workload over several nodes is made of."""
    from runner.workers.names import WORKERS

    name = argv[0] if argv else ""
    if name not in WORKERS:
        raise BadCommandLine(f"no worker {name!r} in this bundle; it has {', '.join(WORKERS)}")
    code: int = import_module(WORKERS[name]).main(list(argv[1:]))
    return code


def _version(_argv: Sequence[str]) -> int:
    print(bundle_version())
    return ExitCode.RAN


def _help(_argv: Sequence[str]) -> int:
    print(USAGE)
    return ExitCode.RAN


def _slug(argv: Sequence[str]) -> str:
    slug = argv[0] if argv else ""
    if slug not in EXECUTORS:
        raise BadCommandLine(f"no test {slug!r} in this bundle; it has {', '.join(EXECUTORS)}")
    return slug


def _options(argv: Sequence[str]) -> dict[str, str]:
    """Return option -> value; `--json` has none."""
    options, words = {}, list(argv)
    while words:
        name = words.pop(0)
        if name not in ("--json", "--workspace", "--config-file", "--config-json", "--facts-root"):
            raise BadCommandLine(f"unknown option {name!r}\n{USAGE}")
        if name != "--json" and not words:
            raise BadCommandLine(f"{name} needs a value\n{USAGE}")
        options[name] = "" if name == "--json" else words.pop(0)
    return options


def _required(options: dict[str, str], name: str) -> str:
    if not options.get(name):
        raise BadCommandLine(f"{name} is missing\n{USAGE}")
    return options[name]


def _config(options: dict[str, str]) -> str:
    if "--config-json" in options:
        return options["--config-json"]
    path = Path(_required(options, "--config-file"))
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadCommandLine(f"the context {path} cannot be read: {error}") from None


def _enter(workspace: str) -> Path:
    """Make the workspace ours alone and the place where tools drop what they drop."""
    os.umask(0o077)
    directory = Path(workspace).absolute()
    try:
        directory.mkdir(parents=True, exist_ok=True)
        os.chdir(directory)
    except OSError as error:
        raise BadCommandLine(f"the workspace {directory} cannot be used: {error}") from None
    return directory


def bundle_version() -> str:
    """Return the bundle's sha256, taken from the file itself, or "source"."""
    file = bundle()
    return _sha256(file.read_bytes()) if file else "source"


def _sha256(data: bytes) -> str:
    """Return the digest without loading OpenSSL, as `hashlib` would before the workload."""
    for name in ("_sha2", "_sha256"):  # from Python 3.12 on; before
        if name in sys.builtin_module_names or find_spec(name):
            return str(import_module(name).sha256(data).hexdigest())
    return str(import_module("hashlib").sha256(data).hexdigest())


def process_age_s() -> float:
    """Return how long this process lives: `exec` keeps the batch script's start."""
    try:
        started_ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
        uptime_s = time.clock_gettime(time.CLOCK_BOOTTIME)
    except (OSError, ValueError, IndexError):
        return 0.0
    return max(uptime_s - started_ticks / os.sysconf("SC_CLK_TCK"), 0.0)


def _refuse(code: int, sentence: str) -> int:
    print(f"runner: {sentence}", file=sys.stderr, flush=True)
    return code
