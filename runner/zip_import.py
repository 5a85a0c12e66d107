"""Imports from the bundle that compile each module once.

To say what a module's file is called, zipimporter compiles it, and once more to run it:
https://github.com/python/cpython/issues/141276. That was 13 of the 88 ms of our start.
"""

from __future__ import annotations

import sys
from zipimport import zipimporter


class BundleImporter(zipimporter):
    """An importer for zips that hold sources only."""

    def get_filename(self, fullname: str) -> str:
        name = fullname.rpartition(".")[2]
        ending = "/__init__.py" if self.is_package(fullname) else ".py"
        return f"{self.archive}/{self.prefix}{name}{ending}"


def install() -> None:
    """Have every zip of `sys.path` imported from in this way."""
    sys.path_hooks[:] = [BundleImporter if each is zipimporter else each for each in sys.path_hooks]
    for path, importer in list(sys.path_importer_cache.items()):
        if type(importer) is zipimporter:
            del sys.path_importer_cache[path]
