"""What needs somebody: nodes are counted, not the runs that failed on them."""

from datetime import timedelta

import pytest

from burnin.models import Trouble
from burnin.selectors.attention import attention
from burnin.states import Verdict
from burnin.tests.factories import NOW, a_job, a_site, frozen_steps, judge, nodes_of
from fleet.models import Site
from runner.contract.slugs import Slugs

pytestmark = pytest.mark.django_db


def test_a_node_that_failed_a_short_and_a_long_run_alike_is_one_node() -> None:
    nodes = nodes_of(a_site(), 2)
    for hour, duration_s in enumerate((60, 30)):
        steps = frozen_steps([Slugs.STORAGE], params={"duration_s": duration_s})
        _, runs = a_job(nodes[:1], Slugs.STORAGE, steps=steps)
        judge(runs, Verdict.FAILED, reason="it is slow", now=NOW + timedelta(hours=hour))

    (entry,) = attention(Site.objects.all()).entries

    assert Trouble.objects.count() == 2
    assert (entry.count, entry.hosts, entry.is_whole) == (1, "n1 at east", True)
    assert entry.newest.judged_at == NOW + timedelta(hours=1)
