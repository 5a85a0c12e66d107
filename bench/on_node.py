"""Runs on a node, with its Python: start the runner and `python3 -c pass` in turn, count CPU."""

from __future__ import annotations

import json
import resource
import subprocess
import sys


def main(bundle: str, directory: str, rounds: int) -> None:
    """Print the CPU seconds of each start, both sides."""
    found: dict[str, list[float]] = {"runner": [], "python": []}
    for number in range(rounds):
        found["runner"].append(_runner(bundle, f"{directory}/{number}"))
        found["python"].append(_python())
    print(json.dumps(found))


def _runner(bundle: str, attempt: str) -> float:
    argv = ["python3", "-I", "-S", bundle, "run", "single-node.hello-world"]
    argv += ["--workspace", attempt, "--config-file", f"{attempt}/context.json"]
    return float(subprocess.run(argv, stdout=subprocess.PIPE, check=True).stdout)


def _python() -> float:
    before = _children_s()
    subprocess.run(["python3", "-c", "pass"], check=True)
    return _children_s() - before


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
