"""A judged run between nodes, with what each direction of each link did."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations

from burnin.models import MetricRow, PairMetric, TestResult, TestRun
from burnin.states import Verdict
from burnin.tests.factories import NOW, judge, nodes_of
from burnin.tests.jobs import planned_job
from fleet.models import Site
from runner.contract.slugs import Slugs

BOUND = {
    "value": 95.0,
    "better": "higher",
    "unit": "%",
    "version": "shipped:1",
    "source": "the field",
    "standing": "gates",
}


def run_between(
    site: Site, count: int, slow: Mapping[tuple[str, str, str], float], *, links: int = 2
) -> TestRun:
    """Return a failed run over n1, n2, …; `slow` is what a source, a target and a link came to."""
    nodes = nodes_of(site, count)
    job, _ = planned_job(nodes)
    run = TestRun(job=job, site=site, stage=1, step=1, slug=Slugs.PAIR_NET_BANDWIDTH)
    TestRun.objects.plan([run], {run.pk: [node.pk for node in nodes]}, now=NOW)
    judge([run], Verdict.FAILED, reason="slow")
    result = TestResult.objects.get(run=run)
    share = {"metric": "port_share", "label": "Share", "unit": "%", "detail": "", "bound": BOUND}
    result.evaluation = [{**share, "value": 50.0, "passed": False}]
    result.save(update_fields=["evaluation"])
    for position, (name, unit) in enumerate({"bandwidth": "Gb/s", "port_share": "%"}.items(), 1):
        MetricRow.objects.create(
            result=result, position=position, name=name, label=f"The {name}", value=50.0,
            unit=unit, better="higher",
        )  # fmt: skip
    PairMetric.objects.bulk_create(
        PairMetric(
            result=result, source=source, target=target, name=name, link=link,
            value=slow.get((source.name, target.name, link), 98.0) * (4 if name[0] == "b" else 1),
        )
        for name in ("bandwidth", "port_share")
        for source, target in permutations(nodes, 2)
        for link in (f"mlx5_{number}:1" for number in range(links))
    )  # fmt: skip
    return run
