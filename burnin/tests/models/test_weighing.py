"""Where nodes stand follows from what is shown of them, at once, whoever changes it."""

from datetime import datetime, timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from pytest_django import DjangoAssertNumQueries, Settings

from burnin.hardware_tests.metadata import NodeFacts
from burnin.models import Acceptance, NodeStanding, Preset, PresetStep, Trouble
from burnin.models.weighing import sweep, weigh_again
from burnin.selectors.nodes import visible_node
from burnin.states import Cause, Verdict
from burnin.tests.factories import NOW, a_class, a_job, a_preset, a_site, judge, nodes_of
from fleet.models import HardwareOperation, Node, Site
from runner.contract.slugs import Slugs

pytestmark = pytest.mark.django_db

LATER = NOW + timedelta(hours=1)
MUCH_LATER = NOW + timedelta(days=31)


def _a_node(*required: str) -> Node:
    a_preset("accept", *(required or (Slugs.HELLO_WORLD,)), accepts=a_class())
    return nodes_of(a_site(), 1)[0]


def _facts(node: Node, serial: str = "") -> list[NodeFacts]:
    return [
        NodeFacts(
            node_name=node.name,
            hostname=node.name,
            kernel="6.1",
            dmi_serial=serial or node.dmi_serial,
        )
    ]


def _result(
    node: Node,
    verdict: Verdict = Verdict.PASSED,
    *,
    slug: str = Slugs.HELLO_WORLD,
    at: datetime = NOW,
    began: datetime | None = None,
    serial: str = "",
) -> None:
    _, runs = a_job([node], slug, now=at)
    cause = Cause.TEST if verdict is Verdict.ERRORED else Cause.NONE
    facts = _facts(node, serial)
    judge(runs, verdict, cause=cause, reason=f"it {verdict}", now=at, began=began, facts=facts)


def _standing(node: Node) -> tuple[str, str]:
    standing = NodeStanding.objects.get(node=node)
    return standing.state, standing.reason


def test_a_node_that_passed_all_that_is_required_is_accepted() -> None:
    node = _a_node()

    _result(node)

    assert _standing(node) == ("accepted", "all 1 required tests passed, and count")


def test_one_required_test_that_never_ran_is_enough_to_be_untested() -> None:
    node = _a_node(Slugs.HELLO_WORLD, Slugs.STORAGE)

    _result(node)

    assert _standing(node) == ("untested", "never run to a conclusion: single-node.storage")
    standing = NodeStanding.objects.get(node=node)
    assert (standing.passed, standing.required) == (1, 2)


def test_a_test_that_its_nodes_have_not_the_hardware_for_is_not_required() -> None:
    node = _a_node(Slugs.HELLO_WORLD, Slugs.GPU_BURN)

    _result(node)

    assert _standing(node) == ("accepted", "all 1 required tests passed, and count")


def test_a_test_that_could_not_be_measured_is_told_as_the_reason() -> None:
    node = _a_node()

    _result(node, Verdict.ERRORED)

    state, reason = _standing(node)
    assert state == "untested"
    assert reason == "single-node.hello-world could not be measured: it errored"


def test_a_class_without_an_acceptance_preset_accepts_nothing() -> None:
    node = nodes_of(a_site(), 1)[0]

    _result(node)

    assert _standing(node)[0] == "untested"


def test_one_preset_accepts_nodes_of_several_classes() -> None:
    nodes = [_a_node(), *nodes_of(a_site("west"), 1, resource_class=a_class("h100-sxm5-8x"))]
    Preset.objects.get().acceptances.create(resource_class=a_class("h100-sxm5-8x"))

    for node in nodes:
        _result(node)

    assert [_standing(node)[0] for node in nodes] == ["accepted", "accepted"]


def test_a_step_that_asks_nothing_of_a_class_is_not_required_of_it() -> None:
    node = _a_node(Slugs.HELLO_WORLD, Slugs.NODE_HEALTH)
    health = PresetStep.objects.filter(slug=Slugs.NODE_HEALTH)
    health.update(params={"checks": ["gpu_count"]})

    _result(node)
    assert _standing(node)[0] == "accepted"
    health.update(params={"checks": ["gpu_count", "cpu_count"]})
    weigh_again([node.pk], now=LATER)
    assert _standing(node) == ("untested", "never run to a conclusion: single-node.node-health")


def test_a_failure_is_failing_even_if_the_test_is_not_required() -> None:
    node = _a_node()
    _result(node)

    _result(node, Verdict.FAILED, slug=Slugs.STORAGE, at=LATER)

    assert _standing(node) == ("failing", "single-node.storage: it failed")


def test_a_pass_after_a_failure_answers_it() -> None:
    node = _a_node()
    _result(node, Verdict.FAILED)
    assert Trouble.objects.count() == 1

    _result(node, at=LATER)

    assert _standing(node)[0] == "accepted"
    assert not Trouble.objects.exists()


def test_an_error_after_a_pass_takes_nothing_away_but_is_remembered() -> None:
    node = _a_node()
    _result(node)

    _result(node, Verdict.ERRORED, at=LATER)

    assert _standing(node)[0] == "accepted"
    assert Trouble.objects.get().verdict == "errored"


def test_an_older_failure_that_is_judged_late_is_no_trouble() -> None:
    node = _a_node()
    _result(node, at=LATER)

    _result(node, Verdict.FAILED, at=LATER, began=NOW)

    assert _standing(node)[0] == "accepted"
    assert not Trouble.objects.exists()


def test_a_node_that_vanished_under_a_test_is_suspect() -> None:
    node = _a_node()
    _result(node)

    _result(node, Verdict.INCONCLUSIVE, at=LATER)

    assert _standing(node) == ("suspect", "single-node.hello-world: it inconclusive")


@pytest.mark.parametrize("shown", [Verdict.INCONCLUSIVE, Verdict.FAILED])
def test_a_rerun_that_could_not_run_clears_nothing(shown: Verdict) -> None:
    node = _a_node()
    _result(node)
    _result(node, shown, at=LATER)
    before = _standing(node)

    _result(node, Verdict.ERRORED, at=LATER + timedelta(hours=1))
    _result(node, Verdict.MEASURED, at=LATER + timedelta(hours=2))

    assert _standing(node) == before
    assert before[0] in {"suspect", "failing"}


def test_an_operation_since_makes_the_evidence_stale_at_once() -> None:
    node = _a_node()
    _result(node)

    HardwareOperation.objects.create(node=node, operation="node-swap", performed_at=LATER)

    state, reason = _standing(node)
    assert state == "stale"
    assert "node-swap was done on" in reason


def test_an_operation_answers_the_failure_that_it_touches_but_accepts_nothing() -> None:
    node = _a_node()
    _result(node, Verdict.FAILED)

    HardwareOperation.objects.create(node=node, operation="node-swap", performed_at=LATER)

    assert _standing(node)[0] == "stale"
    assert not Trouble.objects.exists()


def test_an_operation_that_does_not_touch_the_test_answers_nothing() -> None:
    node = _a_node()
    _result(node, Verdict.FAILED)

    HardwareOperation.objects.create(node=node, operation="dimm-swap", performed_at=LATER)

    assert _standing(node)[0] == "failing"


@pytest.mark.parametrize(("operation", "state"), [("dimm-swap", "failing"), ("node-swap", "stale")])
def test_during_a_run_too_only_an_operation_on_what_it_tests_answers_its_failure(
    operation: str, state: str
) -> None:
    node = _a_node()
    _result(node, Verdict.FAILED, began=NOW - timedelta(minutes=10))

    HardwareOperation.objects.create(
        node=node, operation=operation, performed_at=NOW - timedelta(minutes=5)
    )

    assert _standing(node)[0] == state


def test_an_operation_that_nobody_knows_any_more_spoils_everything() -> None:
    node = _a_node()
    _result(node)

    HardwareOperation.objects.create(node=node, operation="of-old", performed_at=LATER)

    assert _standing(node)[0] == "stale"


def test_evidence_of_another_machine_does_not_count() -> None:
    node = _a_node()

    _result(node, serial="another")

    state, reason = _standing(node)
    assert state == "stale"
    assert "the test ran on serial another" in reason


def test_an_excluded_node_is_skipped_with_the_reason_and_comes_back() -> None:
    node = _a_node()
    _result(node)

    node.excluded_because = "RMA-4471"
    node.save()
    assert _standing(node) == ("skipped", "RMA-4471")

    node.excluded_because = ""
    node.save()
    assert _standing(node)[0] != "skipped"


def test_the_sweep_finds_what_has_expired() -> None:
    node = _a_node()
    _result(node)
    assert sweep(now=LATER) == 0

    assert sweep(now=MUCH_LATER) == 1

    state, reason = _standing(node)
    assert state == "stale"
    assert "it is 31 days old, 30 are allowed" in reason


def test_after_an_upgrade_or_a_change_of_its_age_no_evidence_is_believed_before_it_was_weighed(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = _a_node()
    _result(node)
    settings.EVIDENCE_DAYS, weeks_later = 7, NOW + timedelta(days=14)
    monkeypatch.setattr("django.utils.timezone.now", lambda: weeks_later)
    Preset.objects.update(name="cpu-quick")  # the release's own accepts the class, too
    call_command("load_catalogue", stdout=StringIO())

    shown = visible_node("east", node.name, Site.objects.all(), weeks_later)
    assert vars(shown)["place"] == "stale"
    assert sweep(now=weeks_later) == 1
    assert _standing(node)[0] == "stale"


@pytest.mark.parametrize(
    ("days", "at_once", "weighed"), [(7, "stale", "stale"), (60, "accepted", "accepted")]
)
def test_another_life_of_evidence_holds_at_once(
    settings: Settings, days: int, at_once: str, weighed: str
) -> None:
    node = _a_node()
    _result(node)
    settings.EVIDENCE_DAYS, weeks_later = days, NOW + timedelta(days=14)

    shown = visible_node("east", node.name, Site.objects.all(), weeks_later)

    assert vars(shown)["place"] == at_once
    assert sweep(now=weeks_later) == 1
    assert _standing(node)[0] == weighed
    assert sweep(now=weeks_later) == 0


def test_a_failure_does_not_expire() -> None:
    node = _a_node()
    _result(node, Verdict.FAILED)

    weigh_again([node.pk], now=MUCH_LATER)

    assert _standing(node)[0] == "failing"


def test_a_step_added_to_the_preset_makes_its_nodes_due() -> None:
    node = _a_node()
    _result(node)

    Preset.objects.get().steps.create(position=2, stage=2, slug=Slugs.STORAGE, timeout_minutes=5)

    assert NodeStanding.objects.get(node=node).weigh_at is not None
    sweep(now=MUCH_LATER)
    assert _standing(node)[0] == "untested"


def test_a_preset_that_leaves_the_class_makes_its_nodes_due() -> None:
    node = _a_node()
    _result(node)
    before = NodeStanding.objects.get(node=node).weigh_at

    Acceptance.objects.get().delete()

    assert NodeStanding.objects.get(node=node).weigh_at != before


def test_an_acceptance_that_moves_makes_the_nodes_of_both_classes_due() -> None:
    other = a_class("h100-sxm5-8x")
    nodes = [_a_node(), *nodes_of(a_site("west"), 1, resource_class=other)]
    weigh_again([each.pk for each in nodes], now=NOW)
    assert not NodeStanding.objects.exclude(weigh_at=None).exists()

    acceptance = Acceptance.objects.get()
    acceptance.resource_class = other
    acceptance.save()

    assert not NodeStanding.objects.filter(weigh_at=None).exists()


def test_the_sweep_finds_nodes_that_are_new() -> None:
    nodes_of(a_site(), 3)

    assert sweep(now=NOW) == 3
    assert sweep(now=NOW) == 0


def test_since_is_kept_while_the_state_is_the_same() -> None:
    node = _a_node()
    _result(node)

    weigh_again([node.pk], now=LATER)

    assert NodeStanding.objects.get(node=node).since == NOW


def test_many_nodes_cost_as_many_queries_as_one(
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    a_preset("accept", Slugs.HELLO_WORLD, accepts=a_class())
    nodes = nodes_of(a_site(), 40)
    _, runs = a_job(nodes)
    judge(runs)

    with django_assert_max_num_queries(8):
        weigh_again([each.pk for each in nodes], now=LATER)
