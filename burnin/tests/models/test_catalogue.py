"""Shipped classes and presets come in once, whole, and never over an operator's edit."""

from io import StringIO
from pathlib import Path

import pytest
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.core.management.base import CommandError

from burnin.hardware_tests.params import parse_params
from burnin.hardware_tests.registry import get_test_class, list_all_tests
from burnin.hardware_tests.resource_classes import HARDWARE
from burnin.hardware_tests.single_node.health.catalogue import CHECKS
from burnin.hardware_tests.single_node.health.params import NodeHealthParams
from burnin.hardware_tests.site_params import with_examples
from burnin.hardware_tests.thresholds.schema import Standing
from burnin.models import Preset, PresetStep, ThresholdVersion
from burnin.models.catalogue import CATALOGUE_YAML, BadCatalogue, Loaded, load_catalogue
from burnin.workflow.cohorts import is_shared
from fleet.models import ResourceClass
from runner.contract.slugs import Slugs

pytestmark = pytest.mark.django_db

UNCALIBRATED = Standing.UNCALIBRATED
PRESETS = ("cpu-quick", "quick", "standard", "full", "pair")
MINUTE, HOUR = 60, 3600
GOOD = """\
resource_classes: {h100: Eight H100}
presets:
  burn:
    accepts: [h100]
    steps:
      - {test: single-node.hello-world, stage: 1, timeout_minutes: 5}
      - {test: single-node.memory-stress, stage: 2, timeout_minutes: 10, params: {duration_s: 90}}
"""


def _file(directory: Path, text: str) -> Path:
    path = directory / "catalogue.yaml"
    path.write_text(text)
    return path


def test_the_shipped_catalogue_is_loaded_once() -> None:
    first = load_catalogue()

    preset = Preset.objects.get(name="cpu-quick")
    assert first == Loaded(tuple(HARDWARE), PRESETS, ())
    assert [step.slug for step in preset.steps.all()] == [
        Slugs.HELLO_WORLD,
        Slugs.NODE_HEALTH,
        Slugs.STORAGE,
        Slugs.MEMORY_STRESS,
    ]
    assert preset.accepts == ["cpu-generic"]
    assert load_catalogue() == Loaded((), (), ())


def test_every_shipped_class_is_accepted_by_one_preset() -> None:
    load_catalogue()

    accepted = {name for preset in Preset.objects.all() for name in preset.accepts}
    assert accepted == set(HARDWARE)
    assert set(Preset.objects.get(name="standard").accepts) == accepted - {"cpu-generic"}


def test_a_class_that_an_operator_gave_to_another_preset_stays_there() -> None:
    own = Preset.objects.create(name="own")
    own.acceptances.create(resource_class=ResourceClass.objects.create(name="h200-8x"))

    loaded = load_catalogue()

    assert loaded.accepted_elsewhere == ("h200-8x",)
    assert load_catalogue().kept_otherwise == ("standard",)
    assert own.accepts == ["h200-8x"]
    assert "h200-8x" not in Preset.objects.get(name="standard").accepts


def test_no_node_is_asked_for_a_check_that_its_class_has_no_limit_for() -> None:
    load_catalogue()
    test = get_test_class(Slugs.NODE_HEALTH)

    for step in PresetStep.objects.filter(slug=Slugs.NODE_HEALTH).exclude(params={}):
        for name in HARDWARE:
            asked = test.params_on(parse_params(test, step.params), HARDWARE[name])
            assert isinstance(asked, NodeHealthParams)
            bounds = test.load_thresholds(name).bounds
            metrics = {CHECKS[check].metric for check in asked.checks}
            assert [each for each in metrics if bounds[each].standing is UNCALIBRATED] == []


def test_a_preset_that_an_operator_edited_is_kept_and_named() -> None:
    load_catalogue()
    PresetStep.objects.filter(slug=Slugs.STORAGE).update(timeout_minutes=30)

    assert load_catalogue().kept_otherwise == ("cpu-quick",)
    assert PresetStep.objects.get(slug=Slugs.STORAGE).timeout_minutes == 30


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ("hello-world", "helo-world", "step 1: there is no test 'single-node.helo-world'; did you"),
        (
            "duration_s: 90",
            "duration: 90",
            "step 2: the params of single-node.memory-stress do not",
        ),
        ("duration_s: 90", "duration_s: 1", "step 2: the params of single-node.memory-stress do"),
        ("timeout_minutes: 10,", "timeout_minutes: 0,", "steps.1.timeout_minutes: Input should be"),
        ("timeout_minutes: 10,", "timeout_minutes: ten,", "steps.1.timeout_minutes: Input should"),
        ("timeout_minutes: 10,", "timeout_minutes: 1,", "step 2: single-node.memory-stress cannot"),
        ("timeout_minutes: 10,", "timeout_minutes: 99999,", "step 2: the timeout in minutes must"),
        ("stage: 2,", "stage: 2, stages: 3,", "steps.1.stages: Extra inputs are not permitted"),
        ("accepts: [h100]", "accepts: [h200]", "preset burn: there is no resource class 'h200'"),
        ("accepts: [h100]", "accepts: h100", "burn.accepts: Input should be a valid list"),
        ("[h100]", "[h100, h100]", "nodes of h100 are accepted twice"),
        ("  burn:", "  Burn!:", "preset Burn!: lower-case letters, digits and '-' only"),
        ("presets:\n", "presets:\n  burn: {steps: []}\n", "'burn' already stands in line 3"),
    ],
)
def test_a_wrong_catalogue_is_refused_in_one_sentence_and_nothing_is_loaded(
    tmp_path: Path, before: str, after: str, says: str
) -> None:
    assert before in GOOD

    with pytest.raises(BadCatalogue) as refusal:
        load_catalogue(_file(tmp_path, GOOD.replace(before, after, 1)))

    assert says in str(refusal.value)
    assert str(refusal.value).startswith("catalogue.yaml")
    assert "\n" not in str(refusal.value)
    assert not Preset.objects.exists()
    assert not ResourceClass.objects.exists()


def test_a_good_catalogue_of_ones_own_is_loaded(tmp_path: Path) -> None:
    assert load_catalogue(_file(tmp_path, GOOD)).presets == ("burn",)


def test_a_second_preset_of_a_name_is_refused_by_its_form() -> None:
    load_catalogue()

    with pytest.raises(ValidationError, match="Preset with this Name already exists"):
        Preset(name="cpu-quick").full_clean()


def test_the_command_says_what_it_added() -> None:
    first, second = StringIO(), StringIO()

    call_command("load_catalogue", stdout=first)
    call_command("load_catalogue", stdout=second)

    assert "presets added: cpu-quick, quick, standard, full, pair" in first.getvalue()
    assert "single-node.storage on cpu-generic, shipped:0.1.0" in first.getvalue()
    assert second.getvalue().count("none") == 3
    shipped = sum(len(test.resource_classes()) for test in list_all_tests())
    assert ThresholdVersion.objects.count() == shipped


def test_the_command_ends_with_one_sentence_for_a_wrong_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = _file(tmp_path, CATALOGUE_YAML.read_text().replace("storage", "storag"))
    command = "burnin.management.commands.load_catalogue.load_catalogue"
    monkeypatch.setattr(command, lambda: load_catalogue(bad))

    with pytest.raises(CommandError, match=r"there is no test 'single-node\.storag'") as refusal:
        call_command("load_catalogue")

    assert refusal.value.returncode == 64
    assert not ThresholdVersion.objects.exists()


def takes_s(step: PresetStep, resource_class: str = "h100-sxm5-8x") -> int:
    """Return about how long the step keeps a node of the class, by its test's recipe."""
    test = get_test_class(step.slug)
    params = test.params_on(
        parse_params(test, with_examples(step.params)), HARDWARE[resource_class]
    )
    return 0 if params is None else test.expected_duration_s(params.resolved()) * step.iterations


@pytest.mark.parametrize(
    ("name", "resource_class", "least_s", "most_s"),
    [
        ("quick", "h100-sxm5-8x", MINUTE, 15 * MINUTE),
        ("standard", "h100-sxm5-8x", 3 * HOUR, 4.5 * HOUR),
        ("full", "h100-sxm5-8x", 24 * HOUR, 72 * HOUR),
        ("full", "mi300x-8x", 24 * HOUR, 72 * HOUR),
        ("full", "cpu-generic", 24 * HOUR, 72 * HOUR),
        ("pair", "h100-sxm5-8x", MINUTE, 30 * MINUTE),
    ],
)
def test_a_preset_takes_as_long_on_a_node_as_it_says(
    name: str, resource_class: str, least_s: float, most_s: float
) -> None:
    load_catalogue()
    steps = PresetStep.objects.filter(preset__name=name)

    assert least_s < sum(takes_s(step, resource_class) for step in steps) <= most_s


@pytest.mark.parametrize("name", ["quick", "standard", "full", "pair"])
def test_node_health_comes_first_and_last_and_single_nodes_before_groups(name: str) -> None:
    load_catalogue()
    steps = list(PresetStep.objects.filter(preset__name=name).order_by("position"))
    stages = {step.position: step.stage for step in steps}
    inner = [step for step in steps if step.slug != Slugs.NODE_HEALTH]
    alone = [step.stage for step in inner if not is_shared(step.slug)]
    groups = [step.stage for step in inner if is_shared(step.slug)]

    assert [step.slug for step in steps if step.stage == min(stages.values())] == [
        Slugs.NODE_HEALTH
    ]
    assert [step.slug for step in steps if step.stage == max(stages.values())] == [
        Slugs.NODE_HEALTH
    ]
    assert list(stages.values()) == sorted(stages.values())
    assert max(alone, default=0) < min(groups, default=1000)
    assert all(step.is_gate for step in steps)


def test_no_shipped_time_limit_is_near_what_the_step_takes() -> None:
    load_catalogue()

    short = [str(step) for step in PresetStep.objects.all() if _is_short(step)]
    assert short == []


def _is_short(step: PresetStep) -> bool:
    return step.timeout_minutes * MINUTE < 1.25 * takes_s(step) + 2 * MINUTE


def test_a_preset_that_lost_every_step_is_kept_and_named() -> None:
    load_catalogue()
    PresetStep.objects.filter(preset__name="pair").delete()

    assert load_catalogue().kept_otherwise == ("pair",)
