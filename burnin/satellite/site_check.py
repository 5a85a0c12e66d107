"""Proves what a site can do before jobs are sent to it: from the login host, and from a node."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable

from burnin.satellite import findings
from burnin.satellite.config import SiteConfig
from burnin.satellite.messages import CheckOrder, Finding, SiteChecked
from burnin.satellite.probe_job import ProbeFailed, ProbeJob, probe_submission
from burnin.satellite.reach import CLUSTER_PROBLEMS
from burnin.slurm.cluster import Cluster


def check(site: SiteConfig, cluster: Cluster, order: CheckOrder) -> SiteChecked:
    """Probe everything, also after a probe has failed. Takes up to two minutes."""
    nonce = secrets.token_hex(8)
    job = ProbeJob(cluster, probe_submission(order, nonce=nonce), nonce=nonce)
    probes: list[tuple[str, Callable[[], Iterable[Finding]]]] = [
        ("configuration", lambda: [findings.configuration(site, order)]),
        ("login_python", lambda: [findings.login_python(cluster.login_python())]),
        ("slurm", lambda: _slurm(cluster, order)),
        ("drain", lambda: [findings.drain(cluster.may_drain())]),
        ("work_dir_shared", lambda: findings.node(job.run())),
    ]
    found = [finding for name, probe in probes for finding in _outcome(name, probe)]
    return SiteChecked(request_id=order.request_id, findings=tuple(found))


def _slurm(cluster: Cluster, order: CheckOrder) -> list[Finding]:
    facts = cluster.facts()
    return [*findings.slurm(facts), findings.partition(facts, order.partition)]


def _outcome(name: str, probe: Callable[[], Iterable[Finding]]) -> list[Finding]:
    try:
        return list(probe())
    except (ProbeFailed, *CLUSTER_PROBLEMS) as error:
        return [findings.finding(name, str(error) or type(error).__name__)]
