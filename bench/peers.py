"""P3: what others cost above a bare loop of their own payload, beside what the product costs.

The payload is the product's own: the runner's hello-world, without uploads. ReFrame's reference
is a loop of sbatch over the job scripts that ReFrame wrote, submitit's one over scripts that start
the payload. What of submitit's overhead is the start of its jobs (srun, Python, submitit) and what
its orchestration is said beside it, by a loop over scripts that start those, too.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from uuid import uuid4

from bench import raw
from bench.place import OPEN, ROOT, CommandFailed, Place, run
from bench.sampling import alternate, seconds
from bench.table import Line, at_least
from burnin.runner_bundle import build_runner
from runner.contract.slugs import Slugs
from runner.contract.wire import ExecutionContext

JOBS = 100
ROUNDS = 5
TRIES = 3
LONGEST_PEER_S = 240
REQUIREMENTS = Path(__file__).with_name("requirements-peers.txt")
PROGRAMS = Path(__file__).with_name("peer_programs")
TARGET = at_least(5, 10)


@dataclass(frozen=True)
class Overheads:
    """Seconds for all jobs; what is above the reference is overhead."""

    name: str
    peer_s: float
    reference_s: float
    notes: tuple[str, ...] = ()

    @property
    def per_job_s(self) -> float:
        return (self.peer_s - self.reference_s) / JOBS


def measure(place: Place) -> Sequence[Line]:
    from bench.end_to_end import overhead_per_run_s

    found = [_reframe(place), _submitit(place)]
    ours_s = overhead_per_run_s(place)
    return [_line(each, ours_s) for each in found]


def _line(peer: Overheads, ours_s: float) -> Line:
    ratio = peer.per_job_s / max(ours_s, 1e-4)
    return Line(
        f"P3 {peer.name}",
        f"overhead per run, {peer.name} ÷ product",
        f"{ours_s * 1e3:.1f} ms",
        f"{peer.per_job_s * 1e3:.1f} ms",
        ratio,
        ratio,
        TARGET,
        (
            f"{JOBS} jobs: {peer.name} {peer.peer_s:.1f} s, a bare loop of its payload "
            f"{peer.reference_s:.1f} s",
            *peer.notes,
        ),
    )


def _reframe(place: Place) -> Overheads:
    home = place.directory("reframe")
    environment = _environment(place, home)
    command: list[str | Path] = [
        _environment_of_peers(place) / "bin" / "reframe",
        "-C", PROGRAMS / "reframe_config.py", "-c", PROGRAMS / "reframe_hello.py",
        "--run", "--exec-policy=async", "--keep-stage-files", "--dont-restage",
        "--prefix", home, "--report-file", home / "report.json",
    ]  # fmt: skip
    peer_s = seconds(lambda: run(command, environment, cwd=home, timeout_s=LONGEST_PEER_S))
    again = place.directory("reframe-scripts")
    scripts = sorted(home.glob("stage/**/rfm_*.sh"))
    if len(scripts) != JOBS:
        raise RuntimeError(f"ReFrame left {len(scripts)} job scripts, not {JOBS}")
    raw.write_scripts(again, map(_elsewhere, scripts))
    bare_s = [seconds(lambda: raw.run_all(place, again)) for _ in range(2)]
    _refuse_fewer(home, 3 * JOBS)
    return Overheads("ReFrame", peer_s, sum(bare_s) / len(bare_s))


def _elsewhere(script: Path) -> str:
    """Return the job's own script, in a new directory: the payload claims its workspace."""
    lines = script.read_text().splitlines()
    after = 1 + max(place for place, line in enumerate(lines) if line.startswith("#SBATCH"))
    enter = f'cd "$(mktemp -d -p {shlex.quote(str(script.parent))})"'
    return "\n".join([*lines[:after], enter, *lines[after:], ""])


def _submitit(place: Place) -> Overheads:
    home = place.directory("submitit")
    environment = _environment(place, home)
    python = _environment_of_peers(place) / "bin" / "python"
    program = PROGRAMS / "submitit_hello.py"

    def peer() -> None:
        command: list[str | Path] = [python, program, home / "log", str(JOBS)]
        run(command, environment, cwd=home, timeout_s=LONGEST_PEER_S)

    plain, started = (place.directory(f"submitit-{name}") for name in ("plain", "started"))
    raw.write_scripts(plain, [_script(home, f"cd $(mktemp -d)\n{environment[_PAYLOAD]}")] * JOBS)
    start = (
        "".join(f"export {name}={shlex.quote(environment[name])}\n" for name in _NAMES)
        + f"export PYTHONPATH={shlex.quote(str(PROGRAMS))}\n"
        f"srun --unbuffered {python} -u -c "
        "'import submitit.core.submission, submitit_hello; submitit_hello.payload()'"
    )
    raw.write_scripts(started, [_script(home, start)] * JOBS)
    # Its payload takes longer than what it adds, so one round would show noise.
    pair = alternate(
        lambda: _again_if_slurm_failed(place, home, peer),
        lambda: _again_if_slurm_failed(place, home, lambda: raw.run_all(place, plain)),
        rounds=ROUNDS,
    )
    started_s = median(
        _again_if_slurm_failed(place, home, lambda: raw.run_all(place, started))
        for _ in range(ROUNDS)
    )
    found = Overheads("submitit", median(pair.product), median(pair.reference))
    orchestration_s = (found.peer_s - started_s) / JOBS
    note = (
        f"its jobs start srun, Python and submitit: above a bare loop that does so, too "
        f"({started_s:.1f} s), it is {orchestration_s * 1e3:.1f} ms"
    )
    return replace(found, notes=(note,))


def _script(home: Path, commands: str) -> str:
    return (
        "#!/bin/bash\n"
        f"#SBATCH --partition={OPEN}\n#SBATCH --nodes=1\n#SBATCH --exclusive\n#SBATCH --time=5\n"
        f"#SBATCH --output=/dev/null\n#SBATCH --chdir={home}\nexport TMPDIR={home}\n{commands}\n"
    )


def _again_if_slurm_failed(place: Place, home: Path, work: Callable[[], None]) -> float:
    """Return the seconds of a round of which every job ran.

    At times slurmstepd fails to execute the script that slurmd has just written.
    """
    for _ in range(TRIES):
        before = _payloads(home)
        try:
            took_s = seconds(work)
        except CommandFailed as error:
            if "slurmstepd" not in str(error):
                raise
            raw.await_empty_queue(place)
            continue
        if _payloads(home) - before == JOBS:
            return took_s
    ran = _payloads(home) - before
    raise RuntimeError(f"{ran} of {JOBS} payloads ran below {home} in the last of {TRIES} rounds")


def _refuse_fewer(home: Path, count: int) -> None:
    """A payload that did not run would make a side look fast."""
    if (found := _payloads(home)) != count:
        raise RuntimeError(f"{found} payloads ran below {home}, not {count}")


def _payloads(home: Path) -> int:
    return sum(1 for _ in home.rglob("metadata.json"))


_PAYLOAD = "BENCH_PAYLOAD"
_NAMES = (_PAYLOAD, "BENCH_PARTITION", "BENCH_COUNT", "BENCH_DIRECTORY")


def _environment(place: Place, home: Path) -> dict[str, str]:
    """Return what the peers' programs read, and nothing of our own environment."""
    bundle = build_runner(place.cluster.work_dir / "peers-bundle").path
    payload = ["python3", "-I", "-S", str(bundle), "run", Slugs.HELLO_WORLD]
    payload += ["--workspace", "workspace", "--config-json", json.dumps(_context())]
    return place.cluster.environment | {
        "HOME": str(home),
        "TMPDIR": str(home),
        _PAYLOAD: shlex.join(payload),
        "BENCH_PARTITION": OPEN,
        "BENCH_COUNT": str(JOBS),
        "BENCH_DIRECTORY": str(home / "payloads"),
    }


def _context() -> dict[str, object]:
    return ExecutionContext(
        run_id=str(uuid4()),
        attempt=1,
        slug=Slugs.HELLO_WORLD,
        params={},
        node_names=[],
        num_nodes=1,
        time_limit_s=300,
        iterations=1,
        facts_root="/",
        uploads={},
    ).as_json()


def _environment_of_peers(place: Place) -> Path:
    """Return the peers' virtual environment, made when its requirements have changed."""
    venv = place.home / "peers"
    installed = venv / REQUIREMENTS.name
    if not installed.exists() or installed.read_text() != REQUIREMENTS.read_text():
        uv = Path(sys.executable).with_name("uv")
        subprocess.run([uv, "venv", "--quiet", "--clear", venv], check=True, timeout=60)
        subprocess.run(
            [uv, "pip", "install", "--quiet", "--python", venv / "bin" / "python",
             "-r", REQUIREMENTS],
            check=True, timeout=300, cwd=ROOT,
        )  # fmt: skip
        installed.write_text(REQUIREMENTS.read_text())
    return venv
