"""`hardware_tests acceptance`: which tests and limits stand between a class and acceptance."""

from typing import Any

from django.core.management.base import OutputWrapper

from burnin.hardware_tests.thresholds.errors import NoThresholds
from burnin.selectors.obstacles import Outlook, outlooks
from fleet.management.database import require_tables


def add_verbs(verbs: Any) -> None:
    verb = verbs.add_parser("acceptance", help="what keeps nodes of a class from being accepted")
    verb.add_argument("resource_class", nargs="?", help="else every class of the hub")
    verb.set_defaults(act=show_outlooks)


def show_outlooks(stdout: OutputWrapper, options: dict[str, Any]) -> int:
    require_tables()
    found, name = outlooks(), options["resource_class"]
    chosen = [each for each in found if name in (None, each.resource_class)]
    if not chosen:
        known = ", ".join(each.resource_class for each in found) or "none: run load_catalogue"
        raise NoThresholds(f"there is no resource class {name!r:.80}; there are {known}")
    for each in chosen:
        _tell(stdout, each)
    return 0


def _tell(stdout: OutputWrapper, each: Outlook) -> None:
    if not each.preset:
        stdout.write(f"{each.resource_class}: no preset accepts it; name one under Presets")
        return
    count = len(each.obstacles)
    words = f"{count} in the way" if count else "nothing is in the way"
    stdout.write(f"{each.resource_class}, by preset {each.preset}: {words}")
    for obstacle in each.obstacles:
        stdout.write(f"  {obstacle.slug}: {obstacle.words}")
    for note in each.notes:
        stdout.write(f"  ({note.slug}: {note.words})")
