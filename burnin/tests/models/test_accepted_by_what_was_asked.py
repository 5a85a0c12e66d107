"""Only what was asked of a run can be shown by it: a short test accepts no node for a long one."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from burnin.hardware_tests.metadata import NodeFacts
from burnin.models import LatestResult, NodeStanding, Preset, Trouble
from burnin.models.weighing import weigh_again
from burnin.states import Verdict
from burnin.tests.factories import (
    NOW,
    a_class,
    a_job,
    a_preset,
    a_site,
    frozen_steps,
    judge,
    nodes_of,
)
from fleet.models import HardwareOperation, Node
from runner.contract.slugs import Slugs

pytestmark = pytest.mark.django_db

STORAGE, HEALTH, COLLECTIVE = Slugs.STORAGE, Slugs.NODE_HEALTH, Slugs.MPI_ALL_REDUCE


def _node(slug: str, **step: Any) -> Node:
    """Return a node whose class must pass this one step."""
    preset = a_preset("accept", slug, accepts=a_class())
    preset.steps.update(**step)
    return nodes_of(a_site(), 1)[0]


def _run(
    node: Node,
    hour: int,
    verdict: Verdict = Verdict.PASSED,
    *,
    slug: str = STORAGE,
    iterations: int = 1,
    began: int | None = None,
    **params: Any,
) -> None:
    asked = frozen_steps([slug], params=params, iterations=iterations)
    _, runs = a_job([node], slug, now=_at(hour), steps=asked)
    facts = [NodeFacts(node_name=node.name, hostname="h", kernel="6.1", dmi_serial=node.dmi_serial)]
    at = _at(hour if began is None else began)
    judge(runs, verdict, reason=f"it {verdict}", now=_at(hour), began=at, facts=facts)


def _at(hour: int) -> datetime:
    return NOW + timedelta(hours=hour)


def _state(node: Node) -> str:
    return NodeStanding.objects.get(node=node).state


def _why(node: Node) -> str:
    return NodeStanding.objects.get(node=node).reason


def test_a_short_run_is_no_evidence_for_a_long_one() -> None:
    node = _node(STORAGE, params={"duration_s": 30})

    _run(node, 0, duration_s=10)

    assert _state(node) == "untested"
    assert _why(node) == (
        "single-node.storage: it passed, but its class asks for more: "
        "duration_s was 10, at least 30 asked for"
    )
    _run(node, 1, duration_s=60)
    assert _state(node) == "accepted"


@pytest.mark.parametrize(
    ("slug", "asked", "shown", "short"),
    [
        (STORAGE, {"iterations": 3}, {"iterations": 2}, "iterations was 2, at least 3 asked for"),
        (
            STORAGE,
            {"params": {"path": "/scratch"}},
            {},
            'path was "/tmp", "/scratch" asked for',
        ),
        (
            HEALTH,
            {"params": {"checks": ["cpu_count", "memory_size"]}},
            {"checks": ["cpu_count"]},
            "checks left out memory_size",
        ),
        (COLLECTIVE, {}, {}, "never run to a conclusion"),
    ],
    ids=["iterations", "another-place", "fewer-checks", "a-collective-of-one"],
)
def test_what_is_short_of_the_step_accepts_nothing_and_is_named(
    slug: str, asked: dict[str, Any], shown: dict[str, Any], short: str
) -> None:
    node = _node(slug, **asked)

    _run(node, 0, slug=slug, **shown)

    assert _state(node) == "untested"
    assert short in _why(node)


def test_more_than_is_asked_for_is_enough_and_in_any_order() -> None:
    node = _node(HEALTH, params={"checks": ["cpu_count", "memory_size"]}, iterations=2)

    _run(node, 0, slug=HEALTH, iterations=3, checks=["memory_size", "disk_space", "cpu_count"])

    assert _state(node) == "accepted"


def test_a_lesser_pass_later_takes_nothing_away() -> None:
    node = _node(STORAGE, iterations=3)
    _run(node, 0, iterations=3)

    _run(node, 1)

    assert _state(node) == "accepted"
    assert LatestResult.objects.count() == 2


@pytest.mark.parametrize("verdict", [Verdict.FAILED, Verdict.INCONCLUSIVE])
def test_no_lesser_pass_answers_what_a_greater_run_has_shown(verdict: Verdict) -> None:
    node = _node(STORAGE)
    _run(node, 0, verdict, iterations=10)

    _run(node, 1)

    assert _state(node) == {"failed": "failing", "inconclusive": "suspect"}[verdict]
    assert _why(node) == f"single-node.storage: it {verdict}"
    _run(node, 2, iterations=10)
    assert _state(node) == "accepted"
    assert not Trouble.objects.exists()


def test_a_failure_of_less_than_was_asked_for_takes_every_older_pass_away() -> None:
    node = _node(STORAGE, iterations=10)
    _run(node, 0, iterations=10)

    _run(node, 1, Verdict.FAILED, path="/scratch", duration_s=1)
    assert _state(node) == "failing"
    _run(node, 2, path="/scratch", duration_s=1)

    assert _state(node) == "untested"
    assert "iterations was 1, at least 10 asked for" in _why(node)


def test_an_operation_answers_a_failure_whatever_it_was_asked_for() -> None:
    node = _node(STORAGE)
    _run(node, 0, Verdict.FAILED, iterations=10)

    HardwareOperation.objects.create(node=node, operation="disk-swap", performed_at=_at(1))
    _run(node, 2)

    assert _state(node) == "accepted"


@pytest.mark.parametrize("verdict", [Verdict.PASSED, Verdict.FAILED])
def test_a_result_of_which_nobody_knows_what_it_was_asked_for_proves_no_node_good(
    verdict: Verdict,
) -> None:
    node = _node(STORAGE)
    _run(node, 0)
    LatestResult.objects.update(verdict=verdict, digest="", params={}, iterations=0)
    weigh_again([node.pk], now=_at(1))

    before = _state(node), _why(node)

    assert (
        before
        == {
            "passed": (
                "untested",
                "single-node.storage: it passed before it was kept what a run was asked to do: "
                "run it again",
            ),
            "failed": ("failing", "single-node.storage: it failed"),
        }[verdict]
    )
    _run(node, 2)
    assert _state(node) == {"passed": "accepted", "failed": "failing"}[verdict]


def test_a_run_that_is_judged_late_brings_nothing_back() -> None:
    node = _node(STORAGE)
    _run(node, 1, Verdict.FAILED, iterations=2)
    _run(node, 2, iterations=2)

    _run(node, 3, Verdict.FAILED, began=0)
    assert _state(node) == "accepted"
    _run(node, 4, Verdict.FAILED, began=0, iterations=5)

    assert _state(node) == "failing"


def test_a_test_that_stands_twice_in_a_preset_must_pass_as_each_step_asks() -> None:
    node = _node(STORAGE, params={"path": "/a"})
    Preset.objects.get().steps.create(
        position=2, stage=2, slug=STORAGE, timeout_minutes=5, params={"path": "/b"}
    )
    _run(node, 0, path="/a")
    assert _state(node) == "untested"

    _run(node, 1, path="/b")

    assert _state(node) == "accepted"


def test_an_error_gives_way_to_whatever_comes_later() -> None:
    node = _node(STORAGE)
    _run(node, 0, Verdict.ERRORED, path="/mistyped")

    _run(node, 1)

    assert not Trouble.objects.exists()
