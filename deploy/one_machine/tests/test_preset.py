"""What this machine is asked, with and without a kernel log that can be read."""

import pytest

from burnin.hardware_tests.single_node.health.params import NodeHealthParams
from burnin.models import Preset
from burnin.models.catalogue import load_catalogue
from deploy.one_machine.preset import OF_KERNEL_LOG, lesser_preset, whole_preset
from runner.contract.slugs import Slugs

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def catalogue() -> None:
    load_catalogue()


def checks_of(preset: Preset) -> set[str]:
    step = preset.steps.get(slug=Slugs.NODE_HEALTH)
    step.full_clean()
    return set(NodeHealthParams.model_validate(step.params).checks)


def test_a_kernel_log_that_can_be_read_is_read() -> None:
    preset = whole_preset()

    assert preset.accepts == ["cpu-generic"]
    assert checks_of(preset) & OF_KERNEL_LOG


def test_without_a_kernel_log_all_else_is_asked_and_nothing_accepted() -> None:
    whole = whole_preset()

    lesser = lesser_preset()

    assert lesser.accepts == []
    assert checks_of(lesser) == checks_of(whole) - OF_KERNEL_LOG
    assert [(step.slug, step.stage, step.timeout_minutes) for step in lesser.steps.all()] == [
        (step.slug, step.stage, step.timeout_minutes) for step in whole.steps.all()
    ]


def test_what_an_operator_made_of_it_stays() -> None:
    lesser_preset().steps.first().delete()  # type: ignore[union-attr]

    assert lesser_preset().steps.count() == 3
