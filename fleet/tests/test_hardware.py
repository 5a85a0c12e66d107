"""What a class can be made of, and the one sentence for what no node can be."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError

from fleet.hardware import Part, why_impossible
from fleet.models import HardwareUnstated, ResourceClass


@pytest.mark.parametrize(
    ("count", "maker", "parts", "says"),
    [
        (None, "", ["nvme"], "say how many GPUs a node has (0 for none), as nvme is stated"),
        (None, "AMD", [], "say how many GPUs a node has (0 for none), as AMD is stated"),
        (4, "", [], "a node has 4 GPUs: say whose, NVIDIA or AMD"),
        (0, "AMD", [], "a node has 0 GPUs of AMD: say how many, or leave the maker out"),
        (0, "", ["gpu-lanes"], "a node without GPUs cannot have gpu-lanes: say how many GPUs it"),
        (0, "", ["nvlink"], "a node without GPUs cannot have nvlink: say how many GPUs it has"),
        (8, "AMD", ["nvlink", "imex"], "only GPUs of NVIDIA have imex, nvlink: leave it out"),
        (8, "NVIDIA", ["nvswitch"], "there is no nvswitch without nvlink: state nvlink too"),
        (8, "NVIDIA", ["rdma-rails"], "there is no rdma-rails without rdma: state rdma too"),
        (8, "NVIDIA", ["nvlnk"], "there is no part 'nvlnk': choose of board, fabric"),
        (8, "NVIDIA", ["nvidia-gpus"], "there is no part 'nvidia-gpus': choose of board, fabric"),
        (8, "NVIDIA", {"nvlink": 1}, "the parts must be a list of names: board, fabric"),
        (8, "NVIDIA", [["nvlink"]], "the parts must be a list of names: board, fabric"),
    ],
)
def test_what_no_node_can_be_made_of_is_refused_in_one_sentence(
    count: int | None, maker: str, parts: object, says: str
) -> None:
    assert why_impossible(count, maker, parts).startswith(says)

    with pytest.raises(ValidationError, match=r"GPUs|part|nvlink|rdma"):
        ResourceClass(name="x", gpus_per_node=count, gpu_maker=maker, parts=parts).clean()


def test_a_class_says_what_its_nodes_have() -> None:
    kind = ResourceClass(name="x", gpus_per_node=4, gpu_maker="NVIDIA", parts=["nvlink"])

    assert kind.hardware.has(Part.NVLINK)
    assert kind.hardware.has(Part.NVIDIA_GPUS)
    assert not kind.hardware.has(Part.AMD_GPUS)
    assert not kind.hardware.has(Part.NVME)


@pytest.mark.parametrize("parts", [["of another release"], None])
def test_hardware_that_cannot_be_read_is_not_stated(parts: object) -> None:
    with pytest.raises(HardwareUnstated, match="resource class x does not state its hardware"):
        _ = ResourceClass(name="x", gpus_per_node=0, parts=parts).hardware
