"""JSON files that are whole or absent. Apart from packing.py, which costs too much to import."""

from __future__ import annotations

import json
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Any


def write_json(path: Path, document: Mapping[str, Any]) -> None:
    """Write the document whole: a reader sees all of it or the state before."""
    torn = path.with_name(path.name + ".torn")
    with torn.open("w", encoding="utf-8") as file:
        json.dump(document, file, allow_nan=False)
        file.flush()
        os.fsync(file.fileno())
    torn.replace(path)
