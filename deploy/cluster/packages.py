"""Install the Debian packages that are missing, and start none of their services."""

import os
import subprocess
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from deploy.cluster.errors import ClusterError

LIST = Path(__file__).resolve().parents[1] / "debian-packages.txt"
GROUPS = ("cluster", "login", "accounting", "tools", "broker", "services", "browser", "python")
POLICY = Path("/usr/sbin/policy-rc.d")
KEPT_POLICY = POLICY.with_name("policy-rc.d.kept-by-cluster")
INSTALL_S = 900


def listed(groups: Collection[str], text: str) -> list[str]:
    """Return the names of the packages of these groups, from the text of the package list."""
    rows = [line.split(maxsplit=2) for line in text.splitlines() if line and line[0] != "#"]
    return [name for name, group, _ in rows if group in groups]


def install_missing(groups: Collection[str]) -> list[str]:
    """Install what is missing and return its names; say what to install if we may not."""
    missing = absent(listed(groups, LIST.read_text()))
    if not missing:
        return []
    if os.geteuid() != 0:
        raise ClusterError(
            f"packages are missing; as root run: apt-get install --no-install-recommends"
            f" {' '.join(missing)}"
        )
    with services_held():
        _install(missing)
    return missing


def absent(names: list[str]) -> list[str]:
    """Return those of the packages that dpkg does not have installed."""
    query = ["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n", *names]
    try:
        done = subprocess.run(query, capture_output=True, text=True, timeout=60, check=False)
    except OSError as error:
        needed = ", ".join(names)
        raise ClusterError(f"this is no Debian (no dpkg-query); it needs {needed}") from error
    installed = {
        line.split()[0] for line in done.stdout.splitlines() if line.endswith(" installed")
    }
    return [name for name in names if name not in installed]


def _install(names: list[str]) -> None:
    """Install from the lists at hand; fetch new lists only if that fails."""
    install = ["install", "-y", "-q", "--no-install-recommends", *names]
    if _apt(install).returncode == 0:
        return
    updated = _apt(["update", "-q"])
    done = _apt(install) if updated.returncode == 0 else updated
    if done.returncode != 0:
        reason = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
        raise ClusterError(f"apt-get could not install {' '.join(names)}: {''.join(reason)}")


def _apt(arguments: list[str]) -> "subprocess.CompletedProcess[str]":
    command = ["apt-get", "-o", "DPkg::Lock::Timeout=300", *arguments]
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"}
    try:
        return subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=INSTALL_S,
            env=environment,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ClusterError(f"`{' '.join(command)}` did not work: {error}") from error


@contextmanager
def services_held() -> Iterator[None]:
    """Keep Debian from starting what it installs, and leave its own policy as it was.

    A policy set aside by a run that was killed is put back first.
    """
    _restore()
    if POLICY.exists():
        POLICY.rename(KEPT_POLICY)
    POLICY.write_text("#!/bin/sh\nexit 101\n")
    POLICY.chmod(0o755)
    try:
        yield
    finally:
        POLICY.unlink(missing_ok=True)
        _restore()


def _restore() -> None:
    if KEPT_POLICY.exists():
        KEPT_POLICY.replace(POLICY)
