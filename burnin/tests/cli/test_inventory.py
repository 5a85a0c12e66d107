"""`load_inventory`: the nodes of a site, from its satellite's word or from Slurm itself."""

from __future__ import annotations

import io
import tomllib
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from burnin.satellite.messages import NodeSeen, NodesSeen
from burnin.slurm.cluster import ClusterUnreachable
from burnin.slurm.fake import FakeCluster
from burnin.tests.models.world import make_site
from burnin.workflow import seen_nodes, wiring
from deploy.cluster.testing import RealCluster
from fleet.models import Node, ResourceClass, Site

pytestmark = pytest.mark.django_db

TOML = 'name = "east"\nwork_dir = "/shared/work"\nfacts_root = "/host"\n'


@pytest.fixture
def slurm(monkeypatch: pytest.MonkeyPatch) -> FakeCluster:
    cluster = FakeCluster(["n1", "n2"])
    monkeypatch.setattr(wiring, "cluster", lambda _: cluster)
    return cluster


@pytest.fixture
def load(settings: Settings, tmp_path: Path) -> Callable[..., str]:
    settings.SITES_DIR = tmp_path
    ResourceClass.objects.create(name="cpu-generic")

    def call(*arguments: str) -> str:
        stdout = io.StringIO()
        call_command("load_inventory", *arguments, stdout=stdout)
        return stdout.getvalue()

    return call


def _listed(site: Site, *names: str, ago: timedelta = timedelta(0)) -> None:
    nodes = tuple(
        NodeSeen(name=name, state="IDLE", is_usable=True, cpu_count=2, memory_mib=7)
        for name in names
    )
    seen_nodes.record(site, NodesSeen(nodes=nodes), datetime.now(UTC) - ago)


def test_a_site_with_a_file_here_is_created_with_its_nodes(
    load: Callable[..., str], slurm: FakeCluster, tmp_path: Path
) -> None:
    (tmp_path / "east.toml").write_text(TOML)

    said = load("east")

    site = Site.objects.get()
    assert (site.name, site.work_dir, site.facts_root) == ("east", "/shared/work", "/host")
    assert site.partition == next(each.name for each in slurm.facts().partitions)
    assert set(Node.objects.values_list("name", "resource_class__name", "is_usable")) == {
        ("n1", "cpu-generic", True),
        ("n2", "cpu-generic", True),
    }
    assert "new, of class cpu-generic: n1, n2" in said


def test_a_second_time_changes_nothing(
    load: Callable[..., str], slurm: FakeCluster, tmp_path: Path
) -> None:
    (tmp_path / "east.toml").write_text(TOML)
    load("east")

    said = load("east")

    assert "new, of class cpu-generic: none" in said
    assert "known: n1, n2" in said
    assert Node.objects.count() == 2


def test_the_satellites_list_is_enough(load: Callable[..., str]) -> None:
    _listed(make_site(), "n1", "n2", "n3")

    said = load("east", "--resource-class", "cpu-generic")

    assert "new, of class cpu-generic: n1, n2, n3" in said
    assert Node.objects.filter(cpu_count=2, memory_mib=7, slurm_state="IDLE").count() == 3


def test_a_node_that_vanished_is_named_and_kept(load: Callable[..., str]) -> None:
    site = make_site()
    _listed(site, "n1", "n2", ago=timedelta(minutes=1))
    load("east")
    _listed(site, "n2")

    said = load("east")

    assert "not listed by Slurm any more, and kept: n1" in said
    assert not Node.objects.get(name="n1").is_usable


def test_known_nodes_keep_their_class_and_exclusion(load: Callable[..., str]) -> None:
    site = make_site()
    big = ResourceClass.objects.create(name="big")
    Node.objects.create(site=site, name="n1", resource_class=big, excluded_because="on loan")
    _listed(site, "n1", "n2")

    load("east")

    known = Node.objects.get(name="n1")
    assert (known.resource_class, known.excluded_because, known.cpu_count) == (big, "on loan", 2)


def test_ten_thousand_nodes_cost_a_handful_of_queries(
    load: Callable[..., str], django_assert_max_num_queries: Any
) -> None:
    _listed(make_site(), *(f"n{number}" for number in range(10_000)))

    with django_assert_max_num_queries(12):
        said = load("east")

    assert Node.objects.count() == 10_000
    assert "and 9990 more" in said


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["west"], "the inventory has no site 'west', and there is no site 'west' in"),
        (["east"], "no satellite of east has listed its nodes in the last 3 minutes: start it"),
        (["east", "--resource-class", "h100"], "there is no resource class 'h100' (known: cpu-"),
    ],
)
def test_bad_input_gets_one_sentence(
    load: Callable[..., str], arguments: list[str], says: str
) -> None:
    _listed(make_site(), "n1", ago=timedelta(hours=1))

    with pytest.raises(CommandError) as refusal:
        load(*arguments)

    assert str(refusal.value).startswith(says)
    assert refusal.value.returncode == 64
    assert not Node.objects.exists()


def test_an_unknown_partition_leaves_no_half_a_site(
    load: Callable[..., str], slurm: FakeCluster, tmp_path: Path
) -> None:
    (tmp_path / "east.toml").write_text(TOML)

    with pytest.raises(CommandError, match="Slurm at east has no partition 'gpu': name one of"):
        load("east", "--partition", "gpu")

    assert not Site.objects.exists()


def test_a_cluster_without_a_default_partition_asks_for_one(
    load: Callable[..., str],
    slurm: FakeCluster,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "east.toml").write_text(TOML)
    facts = slurm.facts()
    none = tuple(replace(each, is_default=False) for each in facts.partitions)
    monkeypatch.setattr(slurm, "facts", lambda: replace(facts, partitions=none))

    with pytest.raises(CommandError, match="no default partition: name one of"):
        load("east")


def test_an_unreachable_cluster_leaves_nothing(
    load: Callable[..., str], slurm: FakeCluster, tmp_path: Path
) -> None:
    (tmp_path / "east.toml").write_text(TOML)
    slurm.is_unreachable = True

    with pytest.raises(CommandError) as refusal:
        load("east")

    assert isinstance(refusal.value.__cause__, ClusterUnreachable)
    assert not Site.objects.exists()


def test_a_real_cluster_is_read_over_ssh(
    load: Callable[..., str], cluster: RealCluster, tmp_path: Path
) -> None:
    name = tomllib.loads(cluster.site_toml.read_text())["name"]
    (tmp_path / f"{name}.toml").write_text(cluster.site_toml.read_text())

    load(name)

    assert set(Node.objects.values_list("name", flat=True)) == set(cluster.node_names)
    assert all(node.cpu_count and node.memory_mib for node in Node.objects.all())
    assert Site.objects.get().partition == "main"
