"""The preset that burns this machine in, and what is left of it where no kernel log can be read."""

from django.db import transaction

from burnin.hardware_tests.single_node.health.params import NodeHealthParams
from burnin.models import Preset, PresetStep
from runner.contract.health import CHECKS_OF
from runner.contract.slugs import Slugs

WHOLE = "cpu-quick"
LESSER = "cpu-quick-without-kernel-log"
OF_KERNEL_LOG = frozenset(CHECKS_OF["kernel_errors"])


def preset_for_this_machine(*, is_kernel_log_closed: bool) -> Preset:
    """Return the whole preset, or the lesser one, which is made once and accepts no class."""
    whole = Preset.objects.get(name=WHOLE)
    return _lesser(whole) if is_kernel_log_closed else whole


@transaction.atomic
def _lesser(whole: Preset) -> Preset:
    words = f"{WHOLE} where the kernel log cannot be read, as in a container. It accepts no node."
    lesser, is_new = Preset.objects.get_or_create(name=LESSER, defaults={"description": words})
    for step in whole.steps.all() if is_new else ():
        if step.slug == Slugs.NODE_HEALTH:
            step.params = _without_kernel_log(step)
        step.pk, step.preset = None, lesser
        step.save()
    return lesser


def _without_kernel_log(step: PresetStep) -> dict[str, object]:
    checks = NodeHealthParams.model_validate(step.params).checks
    return {**step.params, "checks": [each for each in checks if each not in OF_KERNEL_LOG]}
