"""`load_catalogue`: the limits, resource classes and presets that this release ships."""

from typing import Any

from django.core.management.base import CommandError
from django.db import transaction
from django.utils import timezone

from burnin.hardware_tests.thresholds.errors import BadThresholds, NoThresholds
from burnin.models.catalogue import BadCatalogue, load_catalogue
from burnin.models.limits import load_shipped
from burnin.models.weighing import make_due
from fleet.management.command import EXIT_BAD_INPUT, HubCommand
from fleet.models import ResourceClass


class Command(HubCommand):
    help = "Add the limits, resource classes and presets of this release. Changes nothing there is."

    def handle(self, *_: Any, **__: Any) -> None:
        try:
            with transaction.atomic():
                loaded, versions = load_catalogue(), load_shipped()
                # What spoils evidence may be otherwise than when it was weighed: nothing is
                # believed until it was weighed again.
                make_due(ResourceClass.objects.values_list("pk", flat=True), now=timezone.now())
        except (BadCatalogue, BadThresholds, NoThresholds) as error:
            raise CommandError(str(error), returncode=EXIT_BAD_INPUT) from error
        self.stdout.write(f"resource classes added: {_named(loaded.resource_classes)}")
        self.stdout.write(f"presets added: {_named(loaded.presets)}")
        self.stdout.write(f"limits added: {_named([str(each) for each in versions])}")
        if loaded.kept_otherwise:
            self.stdout.write(
                f"kept as they were edited here: {_named(loaded.kept_otherwise)} "
                "(rename one to get the shipped one)"
            )
        if loaded.accepted_elsewhere:
            self.stdout.write(
                "accepted by a preset of this hub, and left to it: "
                f"{_named(loaded.accepted_elsewhere)}"
            )


def _named(names: tuple[str, ...] | list[str]) -> str:
    return ", ".join(names) or "none"
