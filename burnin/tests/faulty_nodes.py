"""Nodes with a fault, between the real Slurm and the real runner: an `srun` that is found first.

What the workers of one node do is changed there, as broken hardware would; nothing else is.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

_SRUN = """\
#!{python} -IS
import os, sys
argv = sys.argv[1:]
if "work" in argv:
    at = argv.index("work")
    argv[at - 3 : at + 1] = ["-S", {worker!r}, argv[at - 1]]
os.execv({srun!r}, [{srun!r}, *argv])
"""

_WORKER = """\
import os, sys
sys.path.insert(0, sys.argv[1])
from importlib import import_module
from runner.workers import mpi
from runner.workers.names import WORKERS
FAULTY = os.environ.get("SLURMD_NODENAME") == {node!r}
{fault}
sys.exit(import_module(WORKERS[sys.argv[2]]).main(sys.argv[3:]))
"""

FLIPS_A_VALUE = """\
def flipping(whole):
    def call(self, given, taken):
        whole(self, given, taken)
        if FAULTY and len(taken) > 100:
            taken[77] += 1.0
    return call
for name in ("all_reduce", "all_gather", "all_to_all"):
    setattr(mpi.Mpi, name, flipping(getattr(mpi.Mpi, name)))
"""
RECEIVES_WRONG = """\
whole = mpi.Mpi.receive
def receive(self, taken, sender):
    whole(self, taken, sender)
    if FAULTY:
        taken[0] += 1.0
mpi.Mpi.receive = receive
"""
HAS_NO_MPI = """\
if FAULTY:
    mpi.LIBRARIES = ("libmpich.so.99",)
"""
SERVES_NOBODY = """\
from runner.workers import iperf_round
iperf_round.CONNECT_S = 1.0
if FAULTY:
    iperf_round.SERVER = ("true",)
"""
HAS_NO_NUMPY = """\
from runner.workers import node_numpy
if FAULTY:
    node_numpy.site.main = lambda: None
"""
HAS_NO_TOOLS = """\
if FAULTY:
    os.environ["PATH"] = "/nowhere"
"""


def faulty_srun(directory: Path, fault: str, *, node: str) -> Path:
    """Write the `srun` into the directory and return the directory, for a site's node_path."""
    directory.mkdir(parents=True, exist_ok=True)
    worker, srun = directory / "worker.py", directory / "srun"
    worker.write_text(_WORKER.format(node=node, fault=fault))
    real = shutil.which("srun")
    assert real
    srun.write_text(_SRUN.format(python=sys.executable, worker=str(worker), srun=real))
    srun.chmod(0o755)
    return directory


# The head node's fio. Before the phase that reads all back, one block of n2's file is overwritten.
_CORRUPTING_FIO = """\
#!/bin/sh
case " $* " in
*/fio-verify.json*--client=*)
    dd if=/dev/zero of="$(echo {scratch}/.burn-in.*/n2)" bs=4096 count=1 seek=240 \\
        conv=notrunc status=none;;
esac
exec {fio} "$@"
"""


def corrupting_fio(directory: Path, *, scratch: Path) -> Path:
    """Write the `fio` into the directory and return the directory."""
    directory.mkdir(parents=True, exist_ok=True)
    tool, real = directory / "fio", shutil.which("fio")
    assert real
    tool.write_text(_CORRUPTING_FIO.format(scratch=scratch, fio=real))
    tool.chmod(0o755)
    return directory
