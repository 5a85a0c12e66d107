"""The preset that burns this machine in, and what is left of it where no kernel log can be read."""

from django.db import transaction

from burnin.hardware_tests.single_node.health.params import NodeHealthParams
from burnin.models import Preset, PresetStep
from runner.contract.health import CHECKS_OF
from runner.contract.slugs import Slugs

WHOLE = "cpu-quick"
LESSER = "cpu-quick-without-kernel-log"
OF_KERNEL_LOG = frozenset(CHECKS_OF["kernel_errors"])


def whole_preset() -> Preset:
    """Return the preset that accepts a machine without GPUs."""
    return Preset.objects.get(name=WHOLE)


@transaction.atomic
def lesser_preset() -> Preset:
    """Return it without the checks that read the kernel log. It accepts no class.

    It is made once, and then an operator's to change.
    """
    words = f"{WHOLE} where the kernel log cannot be read, as in a container. It accepts no node."
    lesser, is_new = Preset.objects.get_or_create(name=LESSER, defaults={"description": words})
    if is_new:
        _copy_steps(whole_preset(), lesser)
    return lesser


def _copy_steps(whole: Preset, lesser: Preset) -> None:
    for step in whole.steps.all():
        if step.slug == Slugs.NODE_HEALTH:
            step.params = _without_kernel_log(step)
        step.pk, step.preset = None, lesser
        step.save()


def _without_kernel_log(step: PresetStep) -> dict[str, object]:
    checks = NodeHealthParams.model_validate(step.params).checks
    return {**step.params, "checks": [each for each in checks if each not in OF_KERNEL_LOG]}
