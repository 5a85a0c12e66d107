"""What stands between a class and acceptance: no limit does, a limit of one network does not."""

from collections.abc import Mapping
from typing import Any

import pytest

from burnin.models import ThresholdVersion
from burnin.models.threshold import ThresholdOrigin
from burnin.selectors.obstacles import Outlook, outlooks
from burnin.tests.factories import a_class, a_preset
from runner.contract.slugs import Slugs

H100, TEST = "h100-sxm5-8x", Slugs.NCCL_ALL_REDUCE
WRONG_VALUES = {"value": 0, "source": "by definition", "confidence": "A"}
pytestmark = pytest.mark.django_db


def _outlook(bus_bandwidth: Mapping[str, Any]) -> Outlook:
    kind = a_class(H100)
    a_preset("standard", TEST, accepts=kind)
    ThresholdVersion.objects.create(
        slug=TEST,
        resource_class=kind,
        number=1,
        origin=ThresholdOrigin.SHIPPED,
        label="shipped:0.1.0",
        bounds={"wrong_values": WRONG_VALUES, "bus_bandwidth": bus_bandwidth},
    )
    return next(each for each in outlooks() if each.resource_class == H100)


def _limit(value: float, **of: Any) -> dict[str, Any]:
    return {"value": value, "source": "a gate of the field", "confidence": "B", **of}


def test_a_metric_without_a_limit_is_in_the_way() -> None:
    found = _outlook({"uncalibrated": "nobody publishes it"})

    assert [(each.slug, each.metric) for each in found.obstacles] == [(TEST, "bus_bandwidth")]
    assert "has no limit (nobody publishes it)" in found.obstacles[0].words
    assert found.notes == []


def test_a_limit_that_holds_for_every_run_is_nothing_to_know() -> None:
    assert _outlook(_limit(300)).said == []


@pytest.mark.parametrize(
    ("bound", "only_on"),
    [
        (_limit(176, num_nodes=2), "2 nodes together"),
        (_limit(455, fabric={"nvls": True}), "nodes (with nvls)"),
        (
            {
                "by_fabric": [
                    _limit(463, num_nodes=2, fabric={"network": "Libfabric"}),
                    _limit(314, num_nodes=4, fabric={"network": "IB", "rate": 3200.0}),
                ]
            },
            "2 nodes together (network Libfabric) or 4 nodes together (network IB, rate 3200)",
        ),
    ],
    ids=["of a number of nodes", "of a network", "of several networks"],
)
def test_a_limit_of_some_runs_is_to_be_known_and_in_nobodys_way(
    bound: Mapping[str, Any], only_on: str
) -> None:
    found = _outlook(bound)

    assert found.obstacles == []
    assert [each.words.partition(" is judged on ")[2] for each in found.notes] == [
        f"{only_on}, no others"
    ]


def test_a_test_without_limits_is_in_the_way_and_a_class_without_a_preset_has_none() -> None:
    a_preset("standard", TEST, accepts=a_class(H100))
    a_class("cpu-generic")

    found = {each.resource_class: each for each in outlooks()}

    assert found[H100].obstacles[0].words.startswith(f"it has no limits for {H100}")
    assert (found["cpu-generic"].preset, found["cpu-generic"].said) == ("", [])
