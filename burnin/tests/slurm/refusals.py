"""The refusal that a parser of Slurm's output answers a text with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from burnin.slurm.refusal import SlurmParseError


def refusal_of(parse: Callable[[str], Any], text: str) -> SlurmParseError:
    with pytest.raises(SlurmParseError) as refused:
        parse(text)
    return refused.value
