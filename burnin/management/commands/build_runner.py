"""Build the bundle that nodes run."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from burnin.runner_bundle import BrokenBundle, UnprovenBundle, build_runner
from runner.contract.slugs import all_slugs


class Command(BaseCommand):
    help = "Build runner-<sha256>.pyz and print its path and sha256."
    requires_system_checks = ()  # canned artifacts, which the checks ask for, come from a bundle

    def add_arguments(self, parser: ArgumentParser) -> None:
        default = Path(settings.BASE_DIR) / "build"
        parser.add_argument("--destination", type=Path, default=default, help="directory")

    def handle(self, *_args: Any, destination: Path, **_options: Any) -> None:
        try:
            bundle = build_runner(destination)
        except (BrokenBundle, UnprovenBundle, OSError) as error:
            raise CommandError(f"no bundle was built: {error}") from error
        missing = sorted(set(all_slugs()) - set(bundle.slugs))
        if missing:
            bundle.path.unlink()
            raise CommandError(
                f"the bundle has no executor for {', '.join(missing)};"
                " add runner/executors/<name>.py and one entry to EXECUTORS in runner/registry.py"
            )
        self.stdout.write(f"{bundle.path}\n{bundle.sha256}")
