"""Shipped classes and presets come in once, whole, and never over an operator's edit."""

from io import StringIO
from pathlib import Path

import pytest
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.core.management.base import CommandError

from burnin.models import Preset, PresetStep, ThresholdVersion
from burnin.models.catalogue import CATALOGUE_YAML, BadCatalogue, Loaded, load_catalogue
from fleet.models import ResourceClass
from runner.contract.slugs import Slugs

pytestmark = pytest.mark.django_db

GOOD = """\
resource_classes: {h100: Eight H100}
presets:
  burn:
    accepts: h100
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
    assert first == Loaded(("cpu-generic",), ("cpu-quick",), ())
    assert [step.slug for step in preset.steps.all()] == [
        Slugs.HELLO_WORLD,
        Slugs.NODE_HEALTH,
        Slugs.STORAGE,
        Slugs.MEMORY_STRESS,
    ]
    assert preset.accepts == ResourceClass.objects.get(name="cpu-generic")
    assert load_catalogue() == Loaded((), (), ())


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
        ("timeout_minutes: 10,", "timeout_minutes: 99999,", "step 2: the timeout in minutes must"),
        ("stage: 2,", "stage: 2, stages: 3,", "steps.1.stages: Extra inputs are not permitted"),
        ("accepts: h100", "accepts: h200", "preset burn: there is no resource class 'h200'"),
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

    assert "presets added: cpu-quick" in first.getvalue()
    assert "single-node.storage on cpu-generic, shipped:0.1.0" in first.getvalue()
    assert second.getvalue().count("none") == 3
    assert ThresholdVersion.objects.count() == 4


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
