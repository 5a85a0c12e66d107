"""A short name for everything that a threshold is calibrated against."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Protocol

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


def digest_of(image: str) -> str:
    """Return the digest that an image's reference names, else the reference; "" for none.

    What another image is put under the same reference cannot be told: name images by digest, or
    by a file with its version in its name.
    """
    found = _DIGEST.search(image)
    return found[0] if found else image


class HasRecipe(Protocol):
    """The part of a test class that fixes what is measured."""

    @property
    def slug(self) -> str: ...
    @property
    def recipe_version(self) -> int: ...
    @property
    def fixed_knobs(self) -> Mapping[str, str | int | float]: ...
    @property
    def fingerprint_tools(self) -> tuple[str, ...]: ...


def fingerprint_of(
    test: HasRecipe,
    *,
    tools: Mapping[str, str],
    num_nodes: int,
    container_digest: str = "",
    fabric: Mapping[str, bool | float | str] | None = None,
) -> str | None:
    """Return 16 hex digits, equal for equal recipes, tools, node count and facts of the network.

    None if a tool that matters did not state its version: then no calibrated threshold holds.
    """
    if any(not tools.get(name) for name in test.fingerprint_tools):
        return None
    parts = {
        "slug": test.slug,
        "recipe_version": test.recipe_version,
        "fixed_knobs": dict(test.fixed_knobs),
        "tools": {name: tools[name] for name in test.fingerprint_tools},
        "container_digest": container_digest,
        "num_nodes": num_nodes,
        **({"fabric": dict(fabric)} if fabric else {}),
    }
    canonical = json.dumps(parts, sort_keys=True, ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]
