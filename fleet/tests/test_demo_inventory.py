"""The demo inventory can be loaded beside what is there, and again."""

import pytest
from django.core.management import call_command

from fleet.models import Node, ResourceClass, Site

pytestmark = pytest.mark.django_db


def test_it_hits_no_row_of_another_site() -> None:
    big = ResourceClass.objects.create(name="big")
    other = Site.objects.create(name="east", partition="gpu", work_dir="/work")
    Node.objects.create(site=other, name="demo-1", resource_class=big)

    for _ in range(2):
        call_command("loaddata", "demo-inventory", verbosity=0)

    assert Node.objects.get(site=other).resource_class == big
    assert Site.objects.get(name="east").partition == "gpu"
    assert Node.objects.filter(site__name="demo", resource_class__name="cpu-generic").count() == 8


def test_it_shows_what_an_operator_meets() -> None:
    call_command("loaddata", "demo-inventory", verbosity=0)

    demo = Node.objects.filter(site__name="demo")
    assert demo.filter(is_usable=False).exclude(slurm_reason="").count() == 1
    assert demo.exclude(excluded_because="").count() == 1
