"""Which of a site's images the script of a GPU test names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from burnin.hardware_tests.multi_node.nccl_collective import NcclAllReduce
from burnin.hardware_tests.params import parse_params
from burnin.hardware_tests.registry import list_all_tests
from burnin.hardware_tests.resource_classes import hardware_of
from burnin.tests.hardware_tests.toy import context
from burnin.workflow.render import Order, render_script

BOTH = {"nccl-tests": "/images/nccl.sqsh", "rccl-tests": "/images/rccl.sqsh"}


@dataclass(frozen=True)
class Site:
    containers: Mapping[str, str] = field(default_factory=dict)
    work_dir: str = "/shared"
    facts_root: str = "/"
    node_path: str = "/usr/bin:/bin"
    node_python: str = "python3"


def script_on(resource_class: str, containers: Mapping[str, str]) -> str:
    params = parse_params(NcclAllReduce, {})
    order = Order(NcclAllReduce(), params, context(nodes=2), hardware_of(resource_class))
    return render_script(order, Site(containers), bundle_path="/b.pyz", bundle_sha256="ab" * 32)


@pytest.mark.parametrize(
    ("resource_class", "image"),
    [("h100-sxm5-8x", "/images/nccl.sqsh"), ("mi300x-8x", "/images/rccl.sqsh")],
)
def test_nodes_of_each_maker_get_the_image_for_them(resource_class: str, image: str) -> None:
    script = script_on(resource_class, BOTH)

    assert f"environment+=(BURN_IN_CONTAINER={image})\n" in script
    assert "#SBATCH --gres=gpu:8\n" in script


def test_without_an_image_of_the_site_the_tool_comes_from_path() -> None:
    assert "BURN_IN_CONTAINER" not in script_on("mi300x-8x", {"nccl-tests": "/images/nccl.sqsh"})


def test_whoever_deploys_reads_which_images_tests_ask_for() -> None:
    told = (Path(__file__).parents[3] / "docs/deploy.md").read_text()
    asked = {
        test.container_on(hardware_of(on))
        for test in list_all_tests()
        for on in test.resource_classes()
    }

    assert asked - {""}
    assert [name for name in sorted(asked - {""}) if f"`{name}`" not in told] == []
