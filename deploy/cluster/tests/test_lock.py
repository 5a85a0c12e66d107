"""One command at a time works on a directory, also while it is wiped."""

import fcntl
import threading
from pathlib import Path

import pytest

from deploy.cluster import layout, lifecycle, processes
from deploy.cluster.command import main
from deploy.cluster.layout import Cluster, Options, Ports


def record(directory: Path) -> None:
    """Leave what a cluster that is down leaves."""
    directory.mkdir()
    ports = Ports(slurmctld=1, slurmdbd=2, sshd=3, first_slurmd=4)
    Cluster(directory, directory / "run", Options(nodes=1), ports).save()


def is_locked(directory: Path) -> bool:
    with (directory / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def test_a_wipe_deletes_while_nobody_else_may_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    record(tmp_path / "c")
    remove, seen = layout.remove, []

    def watched(cluster: Cluster) -> None:
        seen.append(is_locked(cluster.directory))
        remove(cluster)

    monkeypatch.setattr(layout, "remove", watched)

    assert main(["wipe", str(tmp_path / "c")]) == 0
    assert seen == [True]
    assert not (tmp_path / "c").exists()
    assert "is gone" in capsys.readouterr().out


def test_a_wipe_where_there_is_no_cluster_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["wipe", str(tmp_path)]) == 0
    assert f"There is no cluster in {tmp_path}." in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


def test_who_waited_for_a_lock_that_was_deleted_takes_the_new_one(tmp_path: Path) -> None:
    held: list[bool] = []

    def work() -> None:
        with lifecycle.exclusive(tmp_path):
            held.append(is_locked(tmp_path))

    waiting = threading.Thread(target=work)
    with lifecycle.exclusive(tmp_path):
        waiting.start()
        assert processes.wait_until(lambda: _open_locks(tmp_path) == 2, timeout_s=60)
        (tmp_path / "lock").unlink()
    waiting.join(60)

    assert held == [True]


def _open_locks(directory: Path) -> int:
    """Count how often this process has the lock open."""
    lock = directory / "lock"
    opened = [link for link in Path("/proc/self/fd").iterdir() if link.is_symlink()]
    return sum(link.readlink() == lock for link in opened)
