"""The part of MPI that our workers need, straight from the library: no compiler, no mpi4py.

It speaks the ABI that MPICH, Intel MPI, MVAPICH and Cray MPICH share: handles are numbers there.
"""

from __future__ import annotations

import ctypes
import sys
from array import array

from runner.workers.words import node_name

# Some of these names are OpenMPI's too, whose handles are something else: see `_load`.
LIBRARIES = ("libmpich.so.12", "libmpi.so.12", "libmpi_cray.so.12", "libmpi.so")
NO_MPI = 3  # exit code of a worker that found none
NAME_BYTES = 256

_WORLD = 0x44000000
_BYTE = 0x4C00010D
_DOUBLE = 0x4C00080B
_MAX = 0x58000001
_SUM = 0x58000003
_IN_PLACE = ctypes.c_void_p(-1)
_STATUS_IGNORE = ctypes.c_void_p(1)
_TAG = 0


class NoMpi(Exception):
    """There is no MPI library of the common ABI here. The message says what to install."""


class Mpi:
    """All ranks of this step. A call that fails ends every rank, as MPI does by itself."""

    def __init__(self) -> None:
        self._library = _load()
        self._call("MPI_Init", None, None)
        self.rank = self._number("MPI_Comm_rank")
        self.size = self._number("MPI_Comm_size")

    def version(self) -> str:
        text, length = ctypes.create_string_buffer(8192), ctypes.c_int()
        self._call("MPI_Get_library_version", text, ctypes.byref(length))
        return " ".join(text.value.decode("utf-8", "replace").split()[:4])

    def barrier(self) -> None:
        self._call("MPI_Barrier", _WORLD)

    def all_reduce(self, given: array[float], taken: array[float]) -> None:
        """Sum over all ranks, value by value."""
        self._call("MPI_Allreduce", _at(given), _at(taken), len(given), _DOUBLE, _SUM, _WORLD)

    def all_gather(self, given: array[float], taken: array[float]) -> None:
        """Put what each rank gives one behind the other."""
        count = len(given)
        self._call("MPI_Allgather", _at(given), count, _DOUBLE, _at(taken), count, _DOUBLE, _WORLD)

    def all_to_all(self, given: array[float], taken: array[float]) -> None:
        """Send each rank its share of what is given."""
        count = len(given) // self.size
        self._call("MPI_Alltoall", _at(given), count, _DOUBLE, _at(taken), count, _DOUBLE, _WORLD)

    def send(self, given: array[float], to: int) -> None:
        self._call("MPI_Send", _at(given), len(given), _DOUBLE, to, _TAG, _WORLD)

    def receive(self, taken: array[float], sender: int) -> None:
        """Wait for a message of just this length."""
        count = len(taken)
        self._call("MPI_Recv", _at(taken), count, _DOUBLE, sender, _TAG, _WORLD, _STATUS_IGNORE)

    def longest(self, seconds: float) -> float:
        """Return the largest of all ranks' values, on each rank."""
        value = array("d", [seconds])
        self._call("MPI_Allreduce", _IN_PLACE, _at(value), 1, _DOUBLE, _MAX, _WORLD)
        return value[0]

    def gather_text(self, text: str) -> list[str]:
        """Return every rank's short text, on each rank."""
        given = ctypes.create_string_buffer(text.encode()[: NAME_BYTES - 1], NAME_BYTES)
        taken = ctypes.create_string_buffer(NAME_BYTES * self.size)
        self._call("MPI_Allgather", given, NAME_BYTES, _BYTE, taken, NAME_BYTES, _BYTE, _WORLD)
        parts = [
            taken.raw[start : start + NAME_BYTES] for start in range(0, len(taken), NAME_BYTES)
        ]
        return [part.split(b"\0")[0].decode("utf-8", "replace") for part in parts[: self.size]]

    def finish(self) -> None:
        self._call("MPI_Finalize")

    def _number(self, name: str) -> int:
        value = ctypes.c_int()
        self._call(name, _WORLD, ctypes.byref(value))
        return value.value

    def _call(self, name: str, *arguments: object) -> None:
        code = getattr(self._library, name)(*arguments)
        if code != 0:
            raise RuntimeError(f"{name} returned {code}")


def zeros(count: int) -> array[float]:
    return array("d", bytes(8 * count))


def connect() -> Mpi | None:
    """Return all ranks of this step, or None after saying on stderr why there is no MPI."""
    try:
        return Mpi()
    except NoMpi as error:
        print(f"{node_name()}: {error}", file=sys.stderr, flush=True)
        return None


def _load() -> ctypes.CDLL:
    for name in LIBRARIES:
        try:
            library = ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL)
        except OSError:
            continue
        if not hasattr(library, "ompi_mpi_comm_world"):
            return library
    raise NoMpi(f"no MPI library of MPICH's kind: none of {', '.join(LIBRARIES)} can be loaded")


def _at(values: array[float]) -> ctypes.c_void_p:
    return ctypes.c_void_p(values.buffer_info()[0])
