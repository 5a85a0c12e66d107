"""The real thing: up after anything, down to nothing, and never a neighbour's process."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from deploy.cluster import layout, processes, testing
from deploy.cluster.testing import RealCluster

StartCluster = Callable[..., RealCluster]
SMALL = ("--nodes", "2", "--no-accounting")


def kill(cluster: RealCluster, name: str) -> None:
    victims = cluster.processes(name)
    assert victims
    for victim in victims:
        os.kill(victim.pid, signal.SIGKILL)
    assert processes.wait_until(lambda: not cluster.processes(name), timeout_s=60)


def pids(cluster: RealCluster) -> set[int]:
    known = layout.load(cluster.directory)
    assert known is not None
    return {process.pid for process in processes.find(known)}


def states(cluster: RealCluster) -> set[str]:
    return set(cluster.run("sinfo", "-h", "-p", "main", "-N", "-o", "%T").split())


def test_a_second_up_starts_nothing_and_says_so(start_cluster: StartCluster) -> None:
    cluster = start_cluster(*SMALL)
    before = pids(cluster)

    said = testing.command("up", str(cluster.directory))

    assert "is up already" in said
    assert pids(cluster) == before


@pytest.mark.parametrize("name", ["slurmctld", "munged", "slurmd"])
def test_up_after_a_killed_daemon_starts_it_again(start_cluster: StartCluster, name: str) -> None:
    cluster = start_cluster(*SMALL)
    kill(cluster, name)

    testing.command("up", str(cluster.directory))

    seen = cluster.run("srun", "-N2", "-t1", "printenv", "SLURMD_NODENAME")
    assert sorted(seen.split()) == ["n1", "n2"]


def test_up_after_killed_accounting_keeps_the_records(start_cluster: StartCluster) -> None:
    cluster = start_cluster("--nodes", "1")
    cluster.run("sacctmgr", "-i", "add", "account", "kept")
    kill(cluster, "mariadbd")
    kill(cluster, "slurmdbd")

    testing.command("up", str(cluster.directory))

    assert "kept" in cluster.run("sacctmgr", "-nP", "show", "account", "format=account")


def test_up_after_everything_was_killed(start_cluster: StartCluster) -> None:
    cluster = start_cluster(*SMALL)
    for pid in pids(cluster):
        os.kill(pid, signal.SIGKILL)
    assert processes.wait_until(lambda: not pids(cluster), timeout_s=60)

    testing.command("up", str(cluster.directory))

    assert states(cluster) == {"idle"}


def test_down_and_up_keep_the_queue(start_cluster: StartCluster) -> None:
    cluster = start_cluster(*SMALL)
    job = cluster.run("sbatch", "--parsable", "--hold", "--wrap", "true").strip()

    testing.command("down", str(cluster.directory))
    testing.command("up", str(cluster.directory))

    assert cluster.run("squeue", "-h", "-o", "%i %T").split() == [job, "PENDING"]


def test_a_second_down_finds_nothing_to_do(start_cluster: StartCluster) -> None:
    cluster = start_cluster(*SMALL)
    testing.command("down", str(cluster.directory))

    said = testing.command("down", str(cluster.directory))

    assert "is down already" in said


def test_down_ends_the_jobs_of_a_killed_slurmd(start_cluster: StartCluster) -> None:
    cluster = start_cluster(*SMALL)
    # One payload forgets its environment, so that only its parent tells whose it is.
    script = "env -i sleep 600 & setsid sleep 601"
    cluster.run("sbatch", "-w", "n1", "-o", "/dev/null", "--wrap", script)
    assert processes.wait_until(lambda: len(cluster.processes("job")) >= 3, timeout_s=60)
    os.kill(cluster.slurmd("n1").pid, signal.SIGKILL)
    running = pids(cluster)

    testing.command("down", str(cluster.directory))

    assert pids(cluster) == set()
    assert not [pid for pid in running if processes.is_alive(pid)]


def test_down_ends_a_command_that_was_started_over_ssh(start_cluster: StartCluster) -> None:
    cluster = start_cluster(*SMALL)
    target = f"{cluster.ssh_user}@{cluster.ssh_host}"
    options = ["-F", "none", "-o", f"UserKnownHostsFile={cluster.ssh_known_hosts}"]
    login = ["ssh", *options, "-i", str(cluster.ssh_key_file), "-p", str(cluster.ssh_port), target]
    cluster.run(*login, "setsid sleep 600 >/dev/null 2>&1 </dev/null & true")
    assert cluster.processes("remote command")

    testing.command("down", str(cluster.directory))

    assert pids(cluster) == set()


def test_two_clusters_live_side_by_side(start_cluster: StartCluster) -> None:
    one, other = start_cluster(*SMALL), start_cluster(*SMALL)
    untouched = pids(other)

    testing.command("down", str(one.directory))

    assert pids(one) == set()
    assert pids(other) == untouched
    assert states(other) == {"idle"}


def test_a_stopped_controller_is_replaced(start_cluster: StartCluster) -> None:
    cluster = start_cluster(*SMALL)
    for process in cluster.processes("slurmctld"):
        os.kill(process.pid, signal.SIGSTOP)

    testing.command("up", str(cluster.directory))

    assert states(cluster) == {"idle"}


def test_a_long_directory_keeps_its_sockets_elsewhere(tmp_path: Path) -> None:
    long_directory = tmp_path / ("d" * 90)
    try:
        cluster = testing.bring_up(long_directory, "--nodes", "1")

        assert cluster.run("srun", "-t1", "printenv", "SLURMD_NODENAME").strip() == "n1"
    finally:
        testing.command("wipe", str(long_directory))
    assert not long_directory.exists()


def test_a_named_node_without_a_login_host_runs_jobs(tmp_path: Path) -> None:
    options = ("--nodes", "1", "--node-name", "box-7", "--no-login", "--no-accounting")
    try:
        cluster = testing.bring_up(tmp_path, *options)

        assert cluster.run("srun", "-t1", "printenv", "SLURMD_NODENAME").strip() == "box-7"
        assert not cluster.processes("sshd")
    finally:
        testing.command("wipe", str(tmp_path))


def test_fake_gpus_reach_the_job(start_cluster: StartCluster) -> None:
    cluster = start_cluster(*SMALL, "--gpus", "4")

    seen = cluster.run("srun", "-t1", "--gres=gpu:2", "printenv", "CUDA_VISIBLE_DEVICES")

    assert seen.strip() == "0,1"


def test_nodes_with_roots_are_different_machines(cluster: RealCluster) -> None:
    roots = [cluster.directory / "roots" / name for name in cluster.node_names]

    serials = {(root / "sys/class/dmi/id/product_serial").read_text() for root in roots}
    machine_ids = {(root / "etc/machine-id").read_text() for root in roots}

    assert len(serials) == len(machine_ids) == len(cluster.node_names)
    assert all((root / "proc/meminfo").read_text().startswith("MemTotal") for root in roots)
