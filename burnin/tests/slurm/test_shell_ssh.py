"""Commands over SSH, against the real sshd of the test cluster."""

from __future__ import annotations

import io
import os
import socket
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import paramiko
import pytest

from burnin.slurm.client import SlurmClient
from burnin.slurm.cluster import ClusterUnreachable, HostKeyRefused, LoginRefused
from burnin.slurm.shell import SshShell
from burnin.tests.slurm.test_shell_local import BIG, ECHO_BOTH
from deploy.cluster.testing import RealCluster

pytestmark = pytest.mark.cluster


@dataclass(frozen=True)
class Login:
    host: str
    port: int
    user: str
    key_file: Path
    known_hosts: Path

    def shell(self) -> SshShell:
        return SshShell(
            host=self.host,
            port=self.port,
            user=self.user,
            key_file=self.key_file,
            known_hosts=self.known_hosts,
            environment={},
        )


@pytest.fixture
def login(cluster: RealCluster) -> Login:
    return Login(
        cluster.ssh_host,
        cluster.ssh_port,
        cluster.ssh_user,
        cluster.ssh_key_file,
        cluster.ssh_known_hosts,
    )


def refusal(login: Login, kind: type[Exception]) -> str:
    with pytest.raises(kind) as caught:
        login.shell().run(["true"], timeout_s=20)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_five_megabytes_pass_each_way(ssh: SshShell) -> None:
    done = ssh.run([sys.executable, "-c", ECHO_BOTH], BIG, timeout_s=60)

    assert (done.exit_code, done.stdout, done.stderr) == (0, BIG, BIG)


def test_a_stream_is_sent_as_it_is_read(ssh: SshShell) -> None:
    done = ssh.run(["wc", "-c"], io.BytesIO(BIG), timeout_s=60)

    assert int(done.stdout) == len(BIG)


def test_a_command_that_does_not_read_its_input_ends_all_the_same(ssh: SshShell) -> None:
    done = ssh.run(["bash", "-c", "exit 7"], BIG, timeout_s=30)

    assert done.exit_code == 7


def test_the_environment_reaches_the_command(ssh: SshShell, cluster: RealCluster) -> None:
    done = ssh.run(["sh", "-c", 'echo "$SLURM_CONF"'], timeout_s=20)

    assert done.stdout.decode().strip() == str(cluster.slurm_conf)


def test_a_command_that_hangs_leaves_nothing_known(ssh: SshShell) -> None:
    with pytest.raises(ClusterUnreachable, match="did not end within 1 s"):
        ssh.run(["timeout", "5", "sleep", "5"], timeout_s=1)

    assert ssh.run(["echo", "on"], timeout_s=20).stdout == b"on\n"


def test_many_threads_share_one_connection(ssh: SshShell) -> None:
    with ThreadPoolExecutor(8) as pool:
        ports = list(pool.map(lambda _: source_port(ssh), range(8)))

    assert len(set(ports)) == 1


def source_port(shell: SshShell) -> bytes:
    return shell.run(["sh", "-c", "echo $SSH_CONNECTION"], timeout_s=30).stdout.split()[1]


def test_a_connection_that_died_is_opened_again(ssh: SshShell) -> None:
    before = source_port(ssh)
    with pytest.raises(ClusterUnreachable):
        ssh.run(["sh", "-c", "kill -9 $PPID"], timeout_s=20)

    assert source_port(ssh) != before


def test_a_forked_child_opens_its_own_connection(ssh: SshShell) -> None:
    before = source_port(ssh)
    reader, writer = os.pipe()

    child = os.fork()
    if child == 0:
        try:
            os.write(writer, source_port(ssh))
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    in_child = os.read(reader, 20)
    os.close(reader)
    os.close(writer)

    assert in_child not in (b"", before)
    assert source_port(ssh) == before


def test_an_unknown_host_is_refused(login: Login, tmp_path: Path) -> None:
    (tmp_path / "known_hosts").touch()

    sentence = refusal(replace(login, known_hosts=tmp_path / "known_hosts"), HostKeyRefused)

    assert sentence.startswith("no host key of ")
    assert "SHA256:" in sentence


def test_a_changed_host_key_is_refused(login: Login, tmp_path: Path) -> None:
    keys = paramiko.HostKeys()
    other = paramiko.Ed25519Key(file_obj=io.StringIO(new_key(tmp_path)))
    keys.add(f"[{login.host}]:{login.port}", other.get_name(), other)
    keys.save(str(tmp_path / "known_hosts"))

    sentence = refusal(replace(login, known_hosts=tmp_path / "known_hosts"), HostKeyRefused)

    assert "shows another host key" in sentence


def new_key(directory: Path) -> str:
    keygen = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(directory / "key")]
    assert os.spawnvp(os.P_WAIT, keygen[0], keygen) == 0
    return (directory / "key").read_text()


def test_no_pinned_key_at_all_is_refused(login: Login, tmp_path: Path) -> None:
    sentence = refusal(replace(login, known_hosts=tmp_path / "absent"), HostKeyRefused)

    assert "no host key is pinned" in sentence


def test_a_key_that_the_host_does_not_know_is_refused(login: Login, tmp_path: Path) -> None:
    new_key(tmp_path)

    assert "refuses the key" in refusal(replace(login, key_file=tmp_path / "key"), LoginRefused)


def test_a_key_file_that_is_absent_is_named(login: Login, tmp_path: Path) -> None:
    assert "cannot be used" in refusal(replace(login, key_file=tmp_path / "absent"), LoginRefused)


def test_a_port_where_nobody_listens_is_unreachable(login: Login, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    hosts = login.known_hosts.read_text().replace(f"]:{login.port}", f"]:{port}")
    (tmp_path / "known_hosts").write_text(hosts)
    away = replace(login, port=port, known_hosts=tmp_path / "known_hosts")

    assert "cannot be reached" in refusal(away, ClusterUnreachable)


def test_a_job_goes_to_slurm_and_back_over_ssh(
    ssh: SshShell, tmp_path: Path, cluster: RealCluster
) -> None:
    client = SlurmClient(ssh, work_dir=str(tmp_path))

    assert client.deploy_bundle("runner.pyz", BIG) == f"{tmp_path}/bundles/runner.pyz"
    assert (tmp_path / "bundles" / "runner.pyz").read_bytes() == BIG
    assert list(client.nodes()) == list(cluster.node_names)
