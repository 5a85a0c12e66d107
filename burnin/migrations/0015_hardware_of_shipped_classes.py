"""Shipped classes state what they are made of; nodes of others are weighed again, and not accepted.

The table is the release's own: only classes that it still ships have anything to take from it.
"""

from typing import Any

from django.db import migrations
from django.utils import timezone

from burnin.hardware_tests.resource_classes import HARDWARE


def state(apps: Any, _: object) -> None:
    classes = apps.get_model("fleet", "ResourceClass").objects
    for name, hardware in HARDWARE.items():
        classes.filter(name=name, gpus_per_node=None).update(**hardware.as_json())
    unstated = classes.filter(gpus_per_node=None)
    standings = apps.get_model("burnin", "NodeStanding").objects
    standings.filter(node__resource_class__in=unstated).update(weigh_at=timezone.now())


class Migration(migrations.Migration):
    dependencies = [
        ("burnin", "0014_steps_that_a_site_sets_up"),
        ("fleet", "0007_hardware_of_classes"),
    ]

    operations = [migrations.RunPython(state, migrations.RunPython.noop)]
