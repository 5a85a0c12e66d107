"""The data sheet of each test, as plain data."""

import json

import pytest

from burnin.hardware_tests.base import BaseTest
from burnin.hardware_tests.catalogue import describe, expected_duration_s
from burnin.hardware_tests.multi_node.iperf_matrix import IperfMatrix
from burnin.hardware_tests.registry import list_all_tests
from burnin.hardware_tests.single_node.dcgmi import Dcgmi
from burnin.hardware_tests.single_node.gpu_burn import GpuBurn
from burnin.hardware_tests.single_node.hello_world import HelloWorld
from burnin.hardware_tests.single_node.node_health import NodeHealthCheckTest


@pytest.mark.parametrize("test", list_all_tests(), ids=lambda test: test.slug)
def test_every_test_can_be_described_as_json(test: type[BaseTest]) -> None:
    described = json.loads(json.dumps(describe(test), allow_nan=False))

    assert described["slug"] == test.slug
    assert described["measures"]
    assert set(described["params"].get("properties", {})) == set(test.params_class.model_fields)
    for limits in described["thresholds"].values():
        assert limits["version"].startswith("shipped:")


def test_a_description_says_what_is_shown_and_what_is_acceptable() -> None:
    described = describe(HelloWorld)

    assert described["measures"].startswith("One node answers.")
    assert described["metrics"] == [
        {
            "name": "responded",
            "unit": "",
            "better": "exact",
            "label": "Nodes that answered",
            "api_visible": True,
            "gate_reason": "",
            "plausible": None,
            "opt_in": False,
        }
    ]
    assert described["thresholds"]["cpu-generic"]["bounds"]["responded"]["value"] == 1


@pytest.mark.parametrize("test", list_all_tests(), ids=lambda test: test.slug)
def test_every_test_says_how_long_it_takes(test: type[BaseTest]) -> None:
    assert expected_duration_s(test) > 0, "give it takes_s, in seconds"


def test_a_longer_run_is_expected_to_take_longer() -> None:
    assert GpuBurn.expected_duration_s({"duration_s": 3600}) == 3660
    assert Dcgmi.expected_duration_s({"level": 1}) < Dcgmi.expected_duration_s({"level": 4})
    assert IperfMatrix.expected_duration_s({"duration_s": 30}) == 70
    assert NodeHealthCheckTest.expected_duration_s({"watch_s": 600}) == 630
