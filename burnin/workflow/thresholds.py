"""The limits in force, as a job freezes them."""

from burnin.hardware_tests.base import BaseTest
from burnin.workflow.steps import FrozenThresholds


def frozen_limits(test: type[BaseTest], resource_class: str) -> FrozenThresholds:
    """Return the limits in force for a test on a class. Raises NoThresholds or BadThresholds."""
    found = test.load_thresholds(resource_class)
    return FrozenThresholds(0, found.version, found.bounds)
