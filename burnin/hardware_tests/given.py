"""What the node was asked to do, in its own words."""

from __future__ import annotations

from typing import TypeVar

from pydantic import ValidationError

from burnin.hardware_tests.evaluation import NotMeasured
from burnin.hardware_tests.metadata import HardwareTestMetadata
from burnin.hardware_tests.params import TestParams

Params = TypeVar("Params", bound=TestParams)


def given_params(metadata: HardwareTestMetadata, params_class: type[Params]) -> Params:
    """Return the params that metadata.json says the node was given.

    Raises NotMeasured if it says none: what was not asked for could not be told from what is lost.
    """
    if metadata.params is None:
        raise NotMeasured("metadata.json does not say which params the node was given")
    try:
        return params_class.model_validate(metadata.params)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(step) for step in first["loc"]) or "params"
        raise NotMeasured(
            f"the params in metadata.json do not fit the test: {where}: {first['msg']}"
        ) from None
