"""What a class lacks it is not asked for; what it has it is asked for, readable or not."""

from __future__ import annotations

import pytest

from burnin.hardware_tests.resource_classes import HARDWARE, hardware_of
from burnin.hardware_tests.single_node.health.catalogue import CHECKS
from burnin.hardware_tests.single_node.health.needs import NEEDS, is_for
from burnin.hardware_tests.single_node.health.params import NodeHealthParams
from burnin.hardware_tests.single_node.node_health import NodeHealthCheckTest
from burnin.hardware_tests.thresholds.schema import Standing
from runner.contract.health import SECTION_OF, USUAL


def test_every_need_is_of_a_check() -> None:
    assert set(NEEDS) <= set(CHECKS)


def test_every_check_that_a_tool_for_gpus_answers_needs_gpus() -> None:
    of_gpus = {each for each in SECTION_OF if SECTION_OF[each].startswith(("nvidia", "rocm"))}

    assert of_gpus <= set(NEEDS)
    assert not any(is_for(check, hardware_of("cpu-generic")) for check in of_gpus)


def test_the_usual_checks_are_for_every_class() -> None:
    assert all(is_for(check, each) for check in USUAL for each in HARDWARE.values())


@pytest.mark.parametrize("name", sorted(HARDWARE))
def test_a_class_is_asked_for_what_it_states_a_limit_of_its_own_for(name: str) -> None:
    bounds = NodeHealthCheckTest.load_thresholds(name).bounds
    others = NodeHealthCheckTest.load_thresholds("cpu-generic").bounds
    stated = [
        check
        for check, each in CHECKS.items()
        if bounds[each.metric].standing is Standing.GATES
        and others[each.metric].standing is Standing.UNCALIBRATED
    ]

    assert all(is_for(check, hardware_of(name)) for check in stated)
    assert bool(stated) == (name != "cpu-generic")


@pytest.mark.parametrize(
    ("name", "left"),
    [
        ("cpu-generic", ("cpu_count",)),
        ("mi300x-8x", ("cpu_count", "rocm_gpu_count", "active_rdma_ports")),
        ("l40s-8x", ("cpu_count", "gpu_count")),
        ("gb200-nvl72", ("cpu_count", "gpu_count", "imex_nodes_not_ready")),
        ("h100-sxm5-8x", ("cpu_count", "gpu_count", "fabric_manager", "active_rdma_ports")),
    ],
)
def test_of_what_a_preset_names_a_class_is_asked_its_own(name: str, left: tuple[str, ...]) -> None:
    asked = NodeHealthParams(
        checks=(
            "cpu_count",
            "gpu_count",
            "rocm_gpu_count",
            "fabric_manager",
            "imex_nodes_not_ready",
            "active_rdma_ports",
        )
    )

    assert NodeHealthCheckTest.params_on(asked, hardware_of(name)) == NodeHealthParams(checks=left)


def test_a_class_that_has_nothing_of_it_is_asked_nothing() -> None:
    asked = NodeHealthParams(checks=("gpu_count",))

    assert NodeHealthCheckTest.params_on(asked, hardware_of("cpu-generic")) is None
