"""Which tests are for which nodes, and what is said of the others."""

from __future__ import annotations

import pytest

from burnin.hardware_tests.resource_classes import HARDWARE, hardware_of, why_unfit
from burnin.hardware_tests.thresholds.errors import NoThresholds
from burnin.hardware_tests.thresholds.loader import known_resource_classes
from burnin.tests.hardware_tests.toy import Toy
from fleet.hardware import AMD, NVIDIA


class OnNvidia(Toy):
    slug = "single-node.toy-on-gpus"
    gpu_makers = frozenset({NVIDIA})


def test_limits_can_be_stated_for_every_class_whose_hardware_is_known() -> None:
    assert known_resource_classes() == tuple(HARDWARE)


def test_a_test_that_needs_no_gpus_is_for_every_class() -> None:
    assert Toy.resource_classes() == known_resource_classes()


def test_a_test_is_for_the_classes_with_gpus_of_its_makers() -> None:
    assert "cpu-generic" not in OnNvidia.resource_classes()
    assert "mi300x-8x" not in OnNvidia.resource_classes()
    assert len(OnNvidia.resource_classes()) == 6


@pytest.mark.parametrize(
    ("resource_class", "found"),
    [
        ("cpu-generic", "no GPUs"),
        ("mi300x-8x", "GPUs of AMD"),
    ],
)
def test_limits_for_other_nodes_are_refused_in_a_sentence(resource_class: str, found: str) -> None:
    with pytest.raises(NoThresholds) as refused:
        OnNvidia.load_thresholds(resource_class)

    assert str(refused.value) == (
        f"single-node.toy-on-gpus needs GPUs of NVIDIA, and nodes of {resource_class} have "
        f"{found}: choose other nodes, or leave the test out"
    )


def test_one_of_several_makers_is_enough() -> None:
    assert why_unfit(frozenset({AMD, NVIDIA}), hardware_of("mi300x-8x")) == ""


def test_every_class_with_gpus_says_how_many_and_whose() -> None:
    for name in HARDWARE:
        hardware = hardware_of(name)
        assert (hardware.gpus_per_node > 0) == bool(hardware.gpu_maker)
