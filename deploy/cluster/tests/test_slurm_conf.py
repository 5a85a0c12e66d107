"""The configuration as text."""

import socket
from pathlib import Path

import pytest

from deploy.cluster import slurm_conf
from deploy.cluster.layout import Cluster, Options, Ports


def make_cluster(options: Options) -> Cluster:
    ports = Ports(slurmctld=20000, slurmdbd=20001, sshd=20002, first_slurmd=20003)
    return Cluster(Path("/d"), Path("/d/run"), options, ports)


def test_every_node_has_a_port_of_its_own() -> None:
    text = slurm_conf.render(make_cluster(Options(nodes=64)))

    assert "NodeName=n[1-64]" in text
    assert "Port=[20003-20066]" in text


def test_the_only_node_may_have_a_name_of_its_own() -> None:
    cluster = make_cluster(Options(nodes=1, node_name="box-7"))

    assert cluster.node_names == ("box-7",)
    assert "NodeName=box-7 " in slurm_conf.render(cluster)
    assert " Port=20003 " in slurm_conf.render(cluster)


def test_the_first_partition_is_the_default_and_options_follow_the_name() -> None:
    text = slurm_conf.render(make_cluster(Options(partitions=("a", "b:State=DOWN,MaxTime=5"))))

    assert "PartitionName=a Nodes=ALL Default=YES" in text
    assert "PartitionName=b Nodes=ALL Default=NO MaxTime=INFINITE OverSubscribe=NO" in text
    assert text.endswith("State=DOWN MaxTime=5\n")


def test_an_asked_setting_replaces_the_usual_one() -> None:
    text = slurm_conf.render(make_cluster(Options(settings=("SlurmdTimeout=7",))))

    assert [line for line in text.splitlines() if line.startswith("SlurmdTimeout")] == [
        "SlurmdTimeout=7"
    ]


def test_accounting_switched_off_leaves_no_trace() -> None:
    text = slurm_conf.render(make_cluster(Options(accounting=False)))

    assert "Accounting" not in text


def test_every_client_and_daemon_uses_the_private_munge_socket() -> None:
    text = slurm_conf.render(make_cluster(Options()))

    assert "AuthInfo=socket=/d/run/munge.socket" in text
    assert "AccountingStoragePass=/d/run/munge.socket" in text


@pytest.mark.parametrize(
    ("address", "keeps"), [("127.0.0.1", True), ("127.0.1.1", False), ("172.17.0.2", False)]
)
def test_slurm_keeps_to_loopback_only_where_the_hosts_name_stands_for_it(
    monkeypatch: pytest.MonkeyPatch, address: str, keeps: bool
) -> None:
    monkeypatch.setattr(socket, "gethostbyname", lambda name: address)

    text = slurm_conf.render(make_cluster(Options()))

    assert ("NoInAddrAny" in text) is keeps
    assert "NodeAddr=127.0.0.1" in text


def test_a_host_whose_name_stands_for_nothing_has_a_cluster_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def unknown(name: str) -> str:
        raise socket.gaierror(name)

    monkeypatch.setattr(socket, "gethostbyname", unknown)

    assert "NoInAddrAny" not in slurm_conf.render(make_cluster(Options()))
