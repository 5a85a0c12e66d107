"""Proves what a site can do before jobs are sent to it: from the login host, and from a node."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

from burnin.satellite import findings
from burnin.satellite.config import SiteConfig
from burnin.satellite.messages import CheckOrder, ClockOwner, ClockSeen, Finding, SiteChecked
from burnin.satellite.probe_job import ProbeFailed, ProbeJob, probe_submission
from burnin.satellite.reach import CLUSTER_PROBLEMS
from burnin.slurm.cluster import Cluster


def check(
    site: SiteConfig, cluster: Cluster, order: CheckOrder, *, now: Callable[[], datetime]
) -> SiteChecked:
    """Probe everything, also after a probe has failed. Takes up to two minutes."""
    clocks: list[ClockSeen] = []
    probes: list[tuple[str, Callable[[], Iterable[Finding]]]] = [
        ("configuration", lambda: [findings.configuration(site, order)]),
        ("login_python", lambda: [findings.login_python(cluster.login_python())]),
        ("slurm", lambda: _slurm(cluster, order)),
        ("drain", lambda: [findings.drain(cluster.may_drain())]),
        ("login_clock", lambda: _login_clock(cluster, clocks, now)),
        ("work_dir_shared", lambda: _node(cluster, order, clocks, now)),
    ]
    found = [finding for name, probe in probes for finding in _outcome(name, probe)]
    return SiteChecked(request_id=order.request_id, findings=tuple(found), clocks=tuple(clocks))


def _login_clock(
    cluster: Cluster, clocks: list[ClockSeen], now: Callable[[], datetime]
) -> Iterable[Finding]:
    """Read the clock; the hub, which alone knows its own, makes the finding."""
    begun = now()
    clocks.append(clock_seen(ClockOwner.LOGIN_HOST, cluster.login_time(), begun, now()))
    return []


def _node(
    cluster: Cluster, order: CheckOrder, clocks: list[ClockSeen], now: Callable[[], datetime]
) -> Iterable[Finding]:
    nonce = secrets.token_hex(8)
    job = ProbeJob(cluster, probe_submission(order, nonce=nonce), nonce=nonce)
    begun = now()
    probed = job.run()
    clocks.append(clock_seen(ClockOwner.NODE, probed.report.at, begun, now()))
    return findings.node(probed)


def clock_seen(whose: ClockOwner, shown: datetime, begun: datetime, ended: datetime) -> ClockSeen:
    """Compare a clock that was read at some time in between with our own."""
    late, early = min(shown - begun, timedelta(0)), max(shown - ended, timedelta(0))
    return ClockSeen(whose=whose, ahead_s=(late + early).total_seconds())


def _slurm(cluster: Cluster, order: CheckOrder) -> list[Finding]:
    facts = cluster.facts()
    return [*findings.slurm(facts), findings.partition(facts, order.partition)]


def _outcome(name: str, probe: Callable[[], Iterable[Finding]]) -> list[Finding]:
    try:
        return list(probe())
    except (ProbeFailed, *CLUSTER_PROBLEMS) as error:
        return [findings.finding(name, str(error) or type(error).__name__)]
