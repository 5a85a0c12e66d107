"""What this machine is called and how much of it tests may take."""

import pwd
from pathlib import Path

import pytest

from deploy.one_machine import machine
from deploy.one_machine.errors import CannotRun

GIB_IN_KB = 1 << 20


def root_with(tmp_path: Path, *, available_gib: int, limit: str = "") -> Path:
    (tmp_path / "proc").mkdir()
    text = f"MemTotal: 99 kB\nMemAvailable:   {available_gib * GIB_IN_KB} kB\n"
    (tmp_path / "proc/meminfo").write_text(text)
    if limit:
        (tmp_path / "sys/fs/cgroup").mkdir(parents=True)
        (tmp_path / "sys/fs/cgroup/memory.max").write_text(limit + "\n")
    return tmp_path


@pytest.mark.parametrize(
    ("host_name", "node_name"),
    [
        ("box-7.example.org", "box-7"),
        ("3f2a9c1b0d4e", "3f2a9c1b0d4e"),
        ("0123456789", "this-machine"),
        ("my_box", "this-machine"),
        ("a[1-2]", "this-machine"),
        ("", "this-machine"),
    ],
)
def test_the_node_bears_the_short_host_name_where_slurm_can_take_it(
    host_name: str, node_name: str
) -> None:
    assert machine.node_name(host_name) == node_name


def test_tests_get_most_of_what_is_free_beyond_our_own_share(tmp_path: Path) -> None:
    root = root_with(tmp_path, available_gib=11)

    assert machine.memory_for_tests_mib(root) == 8192


@pytest.mark.parametrize(("limit", "given"), [(str(3 << 30), 1600), ("max", 8192)])
def test_a_containers_limit_counts(tmp_path: Path, limit: str, given: int) -> None:
    root = root_with(tmp_path, available_gib=11, limit=limit)

    assert machine.memory_for_tests_mib(root) == given


def test_too_little_memory_is_said_with_what_to_do(tmp_path: Path) -> None:
    root = root_with(tmp_path, available_gib=1)

    with pytest.raises(CannotRun, match="has 1024 MiB of free memory, and 1408 are needed"):
        machine.memory_for_tests_mib(root)


def test_a_user_without_a_name_is_refused() -> None:
    nobody_knows = next(uid for uid in range(50_000, 60_000) if not is_known(uid))

    with pytest.raises(CannotRun, match=f"user id {nobody_knows} has no name on this machine"):
        machine.refuse_nameless_user(nobody_knows)


def test_a_kernel_log_that_cannot_be_read_is_known_before_the_first_test(tmp_path: Path) -> None:
    (tmp_path / "kmsg").touch()

    assert machine.why_kernel_log_is_closed(str(tmp_path / "kmsg")) == ""
    assert machine.why_kernel_log_is_closed(str(tmp_path / "no")) == "No such file or directory"


def is_known(uid: int) -> bool:
    return uid in {each.pw_uid for each in pwd.getpwall()}
