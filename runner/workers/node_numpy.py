"""numpy as the node has it: no part of the bundle, and nothing but a worker may ask for it."""

from __future__ import annotations

import site
import sys
from importlib import import_module
from pathlib import Path

from runner.workers.words import node_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NO_NUMPY = 4  # exit code of a worker that found none


def numpy_of_node() -> Any:
    """Return numpy, or None after saying on stderr what to install."""
    site.main()  # a bundle is started without the packages of its Python
    try:
        return import_module("numpy")
    except ImportError as error:
        where = f"{sys.executable} cannot import it: {error}"
        print(f"{node_name()}: numpy is not installed, {where}", file=sys.stderr, flush=True)
        return None


def blas_name() -> str:
    """Return the library that multiplies, "openblas-pthread/libblas.so.3", as it was loaded."""
    lines = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace").splitlines()
    files = {Path(line.split()[-1]) for line in lines if "/" in line}
    names = {"/".join(file.parts[-2:]) for file in files if _multiplies(file.name)}
    return ", ".join(sorted(names)) or "unknown"


def _multiplies(name: str) -> bool:
    return any(word in name for word in ("blas", "libmkl_rt", "libblis"))
