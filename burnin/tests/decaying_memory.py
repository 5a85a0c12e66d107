"""An mpirun beside which the memory of hpcc decays while HPL solves: a bad DIMM, without one.

`python decaying_memory.py /real/mpirun ARGUMENT…` with hpccinf.txt in the working directory.
"""

from __future__ import annotations

import os
import random
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

REPORT, INPUT = Path("hpccoutf.txt"), Path("hpccinf.txt")
OWN_MAPPINGS = {"MALLOC_MMAP_THRESHOLD_": "65536"}  # the matrix shares its pages with nothing else


def main(argv: list[str]) -> int:
    if "--version" in argv:
        os.execv(argv[0], argv)
    mpirun = subprocess.Popen(argv, env={**os.environ, **OWN_MAPPINGS})
    while mpirun.poll() is None:
        if REPORT.exists() and "Begin of HPL section" in REPORT.read_text():
            for pid in _hpcc_below(mpirun.pid):
                _change_a_number(pid, _matrix_bytes(INPUT.read_text().splitlines()))
        time.sleep(0.001)
    return mpirun.returncode


def _matrix_bytes(lines: list[str]) -> int:
    """Return the size of one process's share of the matrix."""
    n, p, q = (int(lines[number - 1].split()[0]) for number in (6, 11, 12))
    return 8 * n * n // (p * q)


def _hpcc_below(parent: int) -> Iterator[int]:
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = stat.read_text().partition("(")[2].rpartition(") ")
        except OSError:
            continue
        if name == "hpcc" and int(rest.split()[1]) == parent:
            yield int(stat.parent.name)


def _change_a_number(pid: int, size: int) -> None:
    """Change one number in the matrix, if it is there already, or still."""
    try:
        for start, end in _mappings(pid):
            if size <= end - start <= size * 1.25 + (1 << 20):
                at = start + random.randrange(size // 10, size - size // 10) // 8 * 8
                with Path(f"/proc/{pid}/mem").open("r+b", buffering=0) as memory:
                    memory.seek(at)
                    (number,) = struct.unpack("d", memory.read(8))
                    memory.seek(at)
                    memory.write(struct.pack("d", number + 1.0))
    except OSError:
        return


def _mappings(pid: int) -> Iterator[tuple[int, int]]:
    for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
        words = line.split()
        if len(words) == 5 and words[1] == "rw-p":  # no name: nobody's file
            start, _, end = words[0].partition("-")
            yield int(start, 16), int(end, 16)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
