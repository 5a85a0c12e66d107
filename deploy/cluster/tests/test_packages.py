"""What is missing is found and named; Debian's own service policy survives."""

import os
from pathlib import Path

import pytest

from deploy.cluster import packages
from deploy.cluster.errors import ClusterError

TEXT = """# a comment

slurmd   cluster  one for each node
fio      tools    a workload
"""


def test_only_the_asked_groups_are_listed() -> None:
    names = packages.listed(["tools"], TEXT)

    assert names == ["fio"]


def test_every_package_belongs_to_a_known_group_and_says_why() -> None:
    rows = [
        line.split(maxsplit=2)
        for line in packages.LIST.read_text().splitlines()
        if line and not line.startswith("#")
    ]

    assert {group for _, group, _ in rows} == set(packages.GROUPS)


def test_an_ordinary_user_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "absent", lambda names: ["fio", "munge"])
    monkeypatch.setattr(os, "geteuid", lambda: 1000)

    with pytest.raises(ClusterError, match="install --no-install-recommends fio munge"):
        packages.install_missing(["tools"])


def test_the_service_policy_is_put_back(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    policy, kept = tmp_path / "policy-rc.d", tmp_path / "kept"
    monkeypatch.setattr(packages, "POLICY", policy)
    monkeypatch.setattr(packages, "KEPT_POLICY", kept)
    policy.write_text("the machine's own")

    with packages.services_held():
        during = policy.read_text()

    assert "exit 101" in during
    assert policy.read_text() == "the machine's own"
    assert not kept.exists()


def test_a_policy_that_a_killed_run_set_aside_is_put_back(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    policy, kept = tmp_path / "policy-rc.d", tmp_path / "kept"
    monkeypatch.setattr(packages, "POLICY", policy)
    monkeypatch.setattr(packages, "KEPT_POLICY", kept)
    policy.write_text("left by the killed run")
    kept.write_text("the machine's own")

    with packages.services_held():
        pass

    assert policy.read_text() == "the machine's own"
