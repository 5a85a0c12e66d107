"""What a site check finds on a good site, and how it names what is wrong."""

from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from burnin.satellite import findings, probe_job
from burnin.satellite.config import SiteConfig, cluster_at, load_site
from burnin.satellite.messages import CheckOrder, ClockOwner, Finding
from burnin.satellite.probe_job import Clock, NodeReport, Probed
from burnin.satellite.site_check import check, clock_seen
from burnin.slurm.client import SlurmClient
from burnin.slurm.cluster import Answer, SubmitAnswer
from burnin.slurm.fake import EPOCH, FakeCluster
from burnin.tests.satellite.fake_hub import FakeHub
from deploy.cluster.testing import RealCluster

FACTS = FakeCluster().facts()
REPORT = NodeReport(
    nonce="n",
    node_name="n1",
    python="3.11.2",
    clock=Clock(offset_s=0.1, filesystem="nfs4"),
    time=1.8e9,
    machine_id="",
    dmi_serial="",
    kernel_log="",
    upload="",
)


def utc_now() -> datetime:
    """The real clock: the real cluster is on this machine, and must agree with it."""
    return datetime.now(UTC)


@pytest.fixture
def site(cluster: RealCluster) -> SiteConfig:
    return load_site(cluster.site_toml)


@pytest.fixture
def client(site: SiteConfig) -> SlurmClient:
    return cluster_at(site)


def order(site: SiteConfig, *, probe_url: str, partition: str = "main") -> CheckOrder:
    return CheckOrder(
        request_id=str(uuid.uuid4()),
        partition=partition,
        work_dir=site.work_dir,
        facts_root=site.facts_root,
        node_path=site.node_path,
        node_python=site.node_python,
        probe_url=probe_url,
    )


def by_probe(found: tuple[Finding, ...]) -> dict[str, Finding]:
    return {each.probe: each for each in found}


def node_findings(*, login_offset_s: float = 0.0, **changes: object) -> dict[str, Finding]:
    report = REPORT.model_copy(update=changes)
    login = Clock(offset_s=login_offset_s, filesystem="nfs4")
    return by_probe(tuple(findings.node(Probed(report, login))))


@pytest.mark.cluster
def test_a_good_site_passes_every_probe(site: SiteConfig, client: SlurmClient) -> None:
    with FakeHub() as store:
        request = order(site, probe_url=f"{store.url}/probe?sig=SECRET")

        checked = check(site, client, request, now=utc_now)

    assert [each for each in checked.findings if not each.passed] == []
    assert checked.request_id == request.request_id
    found = by_probe(checked.findings)
    assert set(found) == {
        *("configuration", "login_python", "slurm", "min_job_age", "message_timeout"),
        *("max_job_count", "job_requeue", "accounting", "partition", "drain"),
        *("work_dir_shared", "node_python", "clock", "identity", "kernel_log", "upload"),
    }
    assert found["accounting"].found == "yes"
    assert found["identity"].found == "serial number and machine-id"
    assert list(store.uploads) == ["/probe?sig=SECRET"]
    assert {each.whose: each.ahead_s for each in checked.clocks} == dict.fromkeys(ClockOwner, 0.0)


@pytest.mark.cluster
def test_a_site_where_much_is_wrong_is_told_so_in_one_check(
    site: SiteConfig, client: SlurmClient
) -> None:
    wrong = order(site, probe_url="https://127.0.0.1:1/probe?sig=SECRET").model_copy(
        update={"node_python": "python9", "facts_root": "/elsewhere"}
    )

    found = by_probe(check(site, client, wrong, now=utc_now).findings)

    assert {name for name, each in found.items() if not each.passed} == {
        "configuration",
        "work_dir_shared",
    }
    assert "'python9' at the hub" in found["configuration"].words
    assert "python9: not found" in found["work_dir_shared"].words
    assert "SECRET" not in str(found)


@pytest.mark.cluster
def test_a_store_that_nodes_cannot_reach_is_named(site: SiteConfig, client: SlurmClient) -> None:
    asked = order(site, probe_url="http://127.0.0.1:1/p")
    found = by_probe(check(site, client, asked, now=utc_now).findings)

    assert not found["upload"].passed
    assert "Connection refused" in found["upload"].words


@pytest.mark.cluster
def test_a_partition_that_is_down_is_waited_for_in_vain_and_not_for_long(
    site: SiteConfig, client: SlurmClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe_job, "START_WITHIN_S", 2.0)

    request = order(site, probe_url="http://127.0.0.1:1/p", partition="down")
    found = by_probe(check(site, client, request, now=utc_now).findings)

    assert found["partition"].words == "partition down is DOWN: open it"
    assert "PENDING (PartitionDown)" in found["work_dir_shared"].words


@pytest.mark.cluster
def test_who_may_drain_is_found_out_without_draining(client: SlurmClient) -> None:
    before = client.nodes()

    assert client.may_drain()
    assert client.nodes() == before


def test_a_cluster_that_is_away_fails_every_probe_in_words() -> None:
    cluster = FakeCluster()
    cluster.is_unreachable = True
    site = SiteConfig(name="east", work_dir="/srv")

    asked = order(site, probe_url="http://127.0.0.1:1/p")
    checked = check(site, cluster, asked, now=utc_now)

    complaints = {each.probe: each.words for each in checked.findings if not each.passed}
    assert complaints == dict.fromkeys(
        ("login_python", "login_clock", "slurm", "drain", "work_dir_shared"),
        "the fake cluster is switched off",
    )
    assert checked.clocks == ()


def test_a_line_break_in_a_partition_s_name_gets_into_no_script() -> None:
    cluster, site = FakeCluster(), SiteConfig(name="east", work_dir="/srv")
    asked = order(site, probe_url="http://127.0.0.1:1/p", partition="main\n#SBATCH --uid=0")

    checked = check(site, cluster, asked, now=utc_now)

    found = by_probe(checked.findings)["work_dir_shared"]
    assert not found.passed
    assert "holds what no script may hold" in found.words
    assert cluster.observe().snapshots == {}


@pytest.mark.parametrize(
    ("shown_s", "ahead_s"), [(10, 0.0), (12, 0.0), (15, 0.0), (4, -6.0), (75, 60.0)]
)
def test_a_clock_that_was_read_some_time_between_is_off_by_what_no_delay_explains(
    shown_s: int, ahead_s: float
) -> None:
    begun, shown, ended = (EPOCH + timedelta(seconds=each) for each in (10, shown_s, 15))

    seen = clock_seen(ClockOwner.NODE, shown, begun, ended)

    assert seen.ahead_s == ahead_s


def test_the_login_hosts_clock_is_compared_with_the_satellites() -> None:
    cluster = FakeCluster()
    site = SiteConfig(name="east", work_dir="/srv")
    asked = order(site, probe_url="http://127.0.0.1:1/p").model_copy(update={"partition": "none"})
    cluster.answers = [SubmitAnswer(Answer.REFUSED, words="no such partition")]

    checked = check(site, cluster, asked, now=lambda: EPOCH - timedelta(seconds=90))

    (seen,) = checked.clocks
    assert (seen.whose, seen.ahead_s) == (ClockOwner.LOGIN_HOST, 90.0)


def test_a_partition_that_does_not_exist_is_told_with_those_that_do() -> None:
    found = findings.partition(FACTS, "gpu")

    assert found.words == "there is no partition 'gpu'; there are: main"


@pytest.mark.parametrize(("min_job_age_s", "passes"), [(0, True), (49, False), (50, True)])
def test_slurm_must_remember_jobs_long_enough_to_resolve_a_doubt(
    min_job_age_s: int, passes: bool
) -> None:
    facts = replace(FACTS, min_job_age_s=min_job_age_s, message_timeout_s=10)

    assert by_probe(tuple(findings.slurm(facts)))["min_job_age"].passed is passes


def test_a_site_without_accounting_passes_and_hears_what_that_means() -> None:
    found = by_probe(tuple(findings.slurm(replace(FACTS, has_accounting=False))))["accounting"]

    assert (found.passed, found.found) == (True, "no")
    assert "by its artifacts alone" in found.words


@pytest.mark.parametrize(
    ("version", "passes"), [("3.8.0", True), ("3.12.1", True), ("3.7.9", False), ("", False)]
)
def test_a_node_needs_python_3_8(version: str, passes: bool) -> None:
    assert node_findings(python=version)["node_python"].passed is passes


@pytest.mark.parametrize(("apart_s", "passes"), [(0.0, True), (4.0, True), (-6.0, False)])
def test_clocks_that_are_far_apart_are_found(apart_s: float, passes: bool) -> None:
    assert node_findings(login_offset_s=0.1 + apart_s)["clock"].passed is passes


def test_clocks_on_a_filesystem_that_its_writers_stamp_are_not_compared() -> None:
    found = node_findings(clock=Clock(offset_s=100, filesystem="lustre"))["clock"]

    assert (found.passed, found.found) == (True, "unknown")


def test_what_only_narrows_what_can_be_tested_passes_with_words() -> None:
    found = node_findings(
        kernel_log="/dev/kmsg: Operation not permitted",
        machine_id="/etc/machine-id: No such file",
        dmi_serial="/sys/x: Permission denied",
    )

    assert found["kernel_log"].passed and found["identity"].passed
    assert "Operation not permitted" in found["kernel_log"].words
    assert "cannot prove which machine it is" in found["identity"].words
