"""The configuration as text."""

from pathlib import Path

from deploy.cluster import slurm_conf
from deploy.cluster.layout import Cluster, Options, Ports


def make_cluster(options: Options) -> Cluster:
    ports = Ports(slurmctld=20000, slurmdbd=20001, sshd=20002, first_slurmd=20003)
    return Cluster(Path("/d"), Path("/d/run"), options, ports)


def test_every_node_has_a_port_of_its_own() -> None:
    text = slurm_conf.render(make_cluster(Options(nodes=64)))

    assert "NodeName=n[1-64]" in text
    assert "Port=[20003-20066]" in text


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
