"""NVLink and the services around it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from burnin.hardware_tests.evaluation import NotMeasured
from burnin.hardware_tests.parsers.refusal import ParseError
from burnin.tests.hardware_tests.single_node.health.h100 import (
    IMEX,
    LINK_ERRORS,
    LINKS,
    TOPOLOGY,
)
from burnin.tests.hardware_tests.single_node.health.reading import read, said


def test_links_are_counted_on_the_worst_gpu(tmp_path: Path) -> None:
    one_off = LINKS.replace("Link 3: 26.562 GB/s", "Link 3: <inactive>", 1)

    assert said("active_nvlinks", LINKS, tmp_path)[0] == 18
    assert said("active_nvlinks", one_off, tmp_path) == (17, "GPU 0")
    assert said("nvlink_speed", LINKS, tmp_path)[0] == pytest.approx(26.562)


def test_a_slow_link_is_named(tmp_path: Path) -> None:
    slow = LINKS.replace("Link 3: 26.562", "Link 3: 13.281", 1)

    value, detail = said("nvlink_speed", slow, tmp_path)
    assert value == pytest.approx(13.281) and detail == "GPU 0 link 3"


def test_all_links_down_are_none(tmp_path: Path) -> None:
    words = "NVML: Unable to retrieve NVLink information as all links are inActive"
    down = f"GPU 0: H100 (UUID: GPU-0)\n\t {words}\n"

    assert said("active_nvlinks", down, tmp_path) == (0, "GPU 0")
    with pytest.raises(NotMeasured, match="nothing tells its link speed"):
        said("nvlink_speed", down, tmp_path)


def test_errors_of_a_link_are_counted_where_they_are(tmp_path: Path) -> None:
    bad = LINK_ERRORS.replace("Link 5: CRC Errors: 0", "Link 5: CRC Errors: 12", 1)

    assert said("nvlink_errors", LINK_ERRORS, tmp_path)[0] == 0
    assert said("nvlink_errors", bad, tmp_path) == (12, "GPU 0 link 5")
    with pytest.raises(NotMeasured, match="nothing tells its link errors"):
        said("nvlink_errors", LINKS, tmp_path)


def test_a_pair_of_gpus_that_talks_over_pcie_is_named(tmp_path: Path) -> None:
    rows = TOPOLOGY.splitlines(keepends=True)
    rows[1] = rows[1].replace("NV18", "SYS", 1)

    assert said("unlinked_gpu_pairs", TOPOLOGY, tmp_path) == (0, "")
    assert said("unlinked_gpu_pairs", "".join(rows), tmp_path) == (1, "GPU0-GPU1: SYS")


@pytest.mark.parametrize(
    ("state", "exit_code", "value"), [("active", 0, 1), ("failed", 3, 0), ("inactive", 4, 0)]
)
def test_the_fabric_manager_runs_or_it_does_not(
    tmp_path: Path, state: str, exit_code: int, value: int
) -> None:
    assert said("fabric_manager", f"{state}\n", tmp_path, exit_code=exit_code)[0] == value


def test_without_systemd_nothing_is_known_of_the_fabric_manager(tmp_path: Path) -> None:
    words = "System has not been booted with systemd"

    with pytest.raises(NotMeasured, match=words):
        said("fabric_manager", "", tmp_path, exit_code=1, words=words)


def test_a_node_of_the_imex_domain_that_is_not_ready_is_named(tmp_path: Path) -> None:
    bad = IMEX.replace("172.16.1.82   - READY      ", "172.16.1.82   - UNAVAILABLE", 1)

    assert said("imex_nodes_not_ready", IMEX, tmp_path) == (0, "")
    value, detail = said("imex_nodes_not_ready", bad, tmp_path)
    assert value == 1 and detail == "node 1 (172.16.1.82): UNAVAILABLE"
    with pytest.raises(NotMeasured, match="lists no node"):
        said("imex_nodes_not_ready", "", tmp_path)


def test_modules_that_are_missing_are_named(tmp_path: Path) -> None:
    loaded = ["nvidia_peermem", "ib_core", "ib_uverbs", "ext4"]

    assert read("missing_modules", {"loaded": loaded}, tmp_path) == (1, "gdrdrv")


def test_a_gpu_that_tells_nothing_of_its_links_is_not_passed_over(tmp_path: Path) -> None:
    words = "NVML: Unable to retrieve NVLink information as all links are inActive"
    silent = f"GPU 8: H100 (UUID: GPU-8)\n\t {words}\n"

    assert said("active_nvlinks", LINKS + silent, tmp_path) == (0, "GPU 8")
    with pytest.raises(NotMeasured, match="GPU 8 does not tell its link speed"):
        said("nvlink_speed", LINKS + silent, tmp_path)
    with pytest.raises(NotMeasured, match="GPU 8 does not tell its link errors"):
        said("nvlink_errors", LINK_ERRORS + silent, tmp_path)


def test_nodes_of_an_imex_without_a_version_are_read_too(tmp_path: Path) -> None:
    bare = re.sub(r" +- Version: \S+", "", IMEX)

    assert said("imex_nodes_not_ready", bare, tmp_path) == (0, "")


def test_a_domain_that_is_not_up_is_a_fault_beside_nodes_that_are_ready(tmp_path: Path) -> None:
    degraded = IMEX.replace("Domain State: UP", "Domain State: DEGRADED")

    assert said("imex_nodes_not_ready", degraded, tmp_path) == (1, "the domain is DEGRADED")


def test_a_gpu_far_from_every_adapter_is_named(tmp_path: Path) -> None:
    rows = TOPOLOGY.splitlines(keepends=True)
    rows[1] = rows[1].replace("PIX", "NODE")

    assert said("distant_gpus", TOPOLOGY, tmp_path) == (0, "")
    assert said("distant_gpus", "".join(rows), tmp_path) == (1, "GPU0")
    only_gpus = "\tGPU0\tGPU1\nGPU0\t X \tNV18\nGPU1\tNV18\t X \n"
    with pytest.raises(NotMeasured, match="has no adapter"):
        said("distant_gpus", only_gpus, tmp_path)


def test_two_topologies_tell_different_words(tmp_path: Path) -> None:
    other = TOPOLOGY.replace("PIX", "PXB", 1)

    _, told = said("topologies", TOPOLOGY, tmp_path)

    assert told.startswith("8 GPUs and 8 adapters, matrix ")
    assert said("topologies", other, tmp_path)[1] != told
    with pytest.raises(ParseError):
        said("topologies", TOPOLOGY.rpartition("NIC7")[0], tmp_path)
