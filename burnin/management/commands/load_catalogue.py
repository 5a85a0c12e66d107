"""`load_catalogue`: the limits, resource classes and presets that this release ships."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from burnin.hardware_tests.thresholds.loader import BadThresholds, NoThresholds
from burnin.management.hardware_tests.bad_input import EXIT_BAD_INPUT
from burnin.models.catalogue import BadCatalogue, load_catalogue
from burnin.models.limits import load_shipped


class Command(BaseCommand):
    help = "Add the limits, resource classes and presets of this release. Changes nothing there is."

    def handle(self, *_: Any, **__: Any) -> None:
        try:
            with transaction.atomic():
                loaded, versions = load_catalogue(), load_shipped()
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


def _named(names: tuple[str, ...] | list[str]) -> str:
    return ", ".join(names) or "none"
