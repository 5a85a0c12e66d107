"""`hardware_tests dispatch` on the real cluster: each verdict, produced for real."""

import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from burnin.tests.cli.conftest import Hardware
from deploy.cluster.testing import RealCluster
from runner.contract.slugs import Slugs

pytestmark = pytest.mark.cluster
PARAMS = {
    Slugs.HELLO_WORLD: "{}",
    Slugs.NODE_HEALTH: "{}",
    Slugs.MEMORY_STRESS: '{"duration_s": 5}',
    Slugs.STORAGE: '{"duration_s": 2}',
}
BAD_INPUT = 64

Place = Callable[..., str]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Write a site file for the cluster, with what a test wants different, and return its name."""

    def write(toml: Path, *, node_path: str = "", **replaced: str) -> str:
        text = toml.read_text()
        if node_path:
            text = re.sub(r'node_path = ".*"', f'node_path = "{node_path}"', text)
        for key, value in replaced.items():
            text = re.sub(rf"^{key} = .*$", f"{key} = {value}", text, flags=re.MULTILINE)
        sites = tmp_path / "var" / "sites"
        sites.mkdir(parents=True, exist_ok=True)
        (sites / "here.toml").write_text(re.sub(r'^name = ".*"', 'name = "here"', text))
        return "here"

    return write


def asked(slug: str, *, timeout: int = 5, params: str = "") -> list[str]:
    given = ["--params", params or PARAMS[slug], "--partition", "main", "--timeout", str(timeout)]
    return ["dispatch", slug, *given]


@pytest.mark.parametrize("slug", PARAMS)
def test_each_test_passes_here(
    hardware_tests: Hardware, cluster: RealCluster, place: Place, slug: str
) -> None:
    said = hardware_tests(*asked(slug), "--site", place(cluster.local_toml), "--evidence")

    assert said.exit_code == 0, said
    assert re.search(r"^PASSED: ", said.stdout, re.MULTILINE)
    assert re.search(r"Slurm +job \d+ COMPLETED on n\d, exit 0:0, derived 0:0", said.stdout)


@pytest.mark.parametrize("slug", [Slugs.HELLO_WORLD, Slugs.MEMORY_STRESS])
def test_a_test_passes_over_ssh_on_the_node_that_was_named(
    hardware_tests: Hardware, cluster: RealCluster, place: Place, slug: str
) -> None:
    said = hardware_tests(*asked(slug), "--site", place(cluster.site_toml), "--nodelist", "n2")

    assert said.exit_code == 0, said
    assert "on n2" in said.stdout


def test_local_takes_the_slurm_of_slurm_conf(
    hardware_tests: Hardware, cluster: RealCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLURM_CONF", str(cluster.slurm_conf))

    said = hardware_tests(*asked(Slugs.HELLO_WORLD), "--local")

    assert said.exit_code == 0, said


def test_three_iterations_are_judged_together(
    hardware_tests: Hardware, cluster: RealCluster, place: Place
) -> None:
    site = place(cluster.local_toml)

    said = hardware_tests(*asked(Slugs.HELLO_WORLD), "--site", site, "--iterations", "3")

    assert said.exit_code == 0, said


def test_memory_stress_fails_by_its_own_report(
    hardware_tests: Hardware, cluster: RealCluster, place: Place, tmp_path: Path
) -> None:
    """The real stressapptest, told to corrupt its own memory by a wrapper earlier in PATH."""
    wrapper = tmp_path / "bin" / "stressapptest"
    wrapper.parent.mkdir()
    wrapper.write_text('#!/bin/sh\nexec /usr/bin/stressapptest --force_errors "$@"\n')
    wrapper.chmod(0o755)
    site = place(cluster.local_toml, node_path=f"{wrapper.parent}:/usr/bin:/bin")

    said = hardware_tests(*asked(Slugs.MEMORY_STRESS), "--site", site)

    assert said.exit_code == 1, said
    assert re.search(r"^FAILED \(hardware\): Memory errors \d+", said.stdout, re.MULTILINE)


def test_storage_is_errored_and_names_fio_where_it_is_absent(
    hardware_tests: Hardware, cluster: RealCluster, place: Place, tmp_path: Path
) -> None:
    """A PATH that holds what the script needs, and no fio."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("python3", "sha256sum", "env", "uname", "scontrol"):
        (tools / name).symlink_to(Path("/usr/bin") / name)
    site = place(cluster.local_toml, node_path=str(tools))

    said = hardware_tests(*asked(Slugs.STORAGE), "--site", site)

    assert said.exit_code == 2, said
    assert re.search(r"^ERRORED \(test\): fio is not installed", said.stdout, re.MULTILINE)


def test_a_limit_that_is_too_short_is_errored_not_failed(
    hardware_tests: Hardware, cluster: RealCluster, place: Place
) -> None:
    """The runner ends the tool before Slurm's minute is over, and has time to say so."""
    begun = time.monotonic()
    # What fio takes to start and to verify, nobody counts beforehand.
    long = [*asked(Slugs.STORAGE, params='{"duration_s": 1}', timeout=1), "--iterations", "14"]

    said = hardware_tests(*long, "--site", place(cluster.local_toml))

    assert said.exit_code == 2, said
    assert said.stdout.splitlines()[-1].startswith("ERRORED (test): ")
    assert "the time limit may be too short" in said.stdout
    assert time.monotonic() - begun < 600


def test_an_unknown_partition_is_refused_in_slurms_own_words(
    hardware_tests: Hardware, cluster: RealCluster, place: Place
) -> None:
    site = place(cluster.local_toml)

    said = hardware_tests(
        "dispatch", Slugs.HELLO_WORLD, "--partition", "moon", "--timeout", "5", "--site", site
    )

    assert said.exit_code == BAD_INPUT
    assert "invalid partition specified: moon" in said.error


def test_an_unknown_node_is_refused_in_slurms_own_words(
    hardware_tests: Hardware, cluster: RealCluster, place: Place
) -> None:
    site = place(cluster.local_toml)

    said = hardware_tests(*asked(Slugs.HELLO_WORLD), "--site", site, "--nodelist", "n99")

    assert said.exit_code == BAD_INPUT
    assert "Invalid node name specified" in said.error


def test_a_job_that_can_never_start_is_cancelled_and_errored(
    hardware_tests: Hardware, cluster: RealCluster, place: Place
) -> None:
    site = place(cluster.local_toml)

    said = hardware_tests(
        "dispatch", Slugs.HELLO_WORLD, "--partition", "short", "--timeout", "5", "--site", site
    )

    assert said.exit_code == 2, said
    assert "can never start: it asks for more time than the partition allows" in said.stdout
    assert "bi-" not in cluster.run("squeue", "-h", "-p", "short", "-o", "%j")


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        ("port", "1", r"127\.0\.0\.1:1"),
        ("known_hosts", '"/dev/null"', r"host key"),
        ("key_file", '"/dev/null"', r"/dev/null"),
    ],
)
def test_a_login_host_that_cannot_be_trusted_or_reached_gets_one_sentence(
    hardware_tests: Hardware,
    cluster: RealCluster,
    place: Place,
    key: str,
    value: str,
    sentence: str,
) -> None:
    said = hardware_tests(
        *asked(Slugs.HELLO_WORLD), "--site", place(cluster.site_toml, **{key: value})
    )

    assert said.exit_code == BAD_INPUT
    assert re.search(sentence, said.error)
    assert "\n" not in said.error


def test_a_changed_host_key_is_refused(
    hardware_tests: Hardware, cluster: RealCluster, place: Place, tmp_path: Path
) -> None:
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / "key"], check=True
    )
    kind, key, *_ = (tmp_path / "key.pub").read_text().split()
    pinned = tmp_path / "known_hosts"
    pinned.write_text(f"[{cluster.ssh_host}]:{cluster.ssh_port} {kind} {key}\n")

    said = hardware_tests(
        *asked(Slugs.HELLO_WORLD), "--site", place(cluster.site_toml, known_hosts=f'"{pinned}"')
    )

    assert said.exit_code == BAD_INPUT
    assert "shows another host key" in said.error


def test_slurm_commands_that_are_not_there_are_named(
    hardware_tests: Hardware,
    cluster: RealCluster,
    place: Place,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("env", "python3", "timeout"):
        (tools / name).symlink_to(Path("/usr/bin") / name)
    monkeypatch.setenv("PATH", str(tools))

    said = hardware_tests(*asked(Slugs.HELLO_WORLD), "--site", place(cluster.local_toml))

    assert said.exit_code == BAD_INPUT
    assert said.error.startswith("no Slurm on this machine: ")
    assert "scontrol" in said.error
