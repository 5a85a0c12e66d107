"""`hardware_tests new`: a whole test to begin with, that runs and is not yet calibrated."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import OutputWrapper

from burnin.management.scaffold.new_test import write_new_test

NEXT = """\
It runs as it is; put your own tool in place of sha256sum. On `make cluster`, try:
  .venv/bin/python manage.py hardware_tests dispatch {slug} \\
      --local --partition main --timeout 5{nodes}
It ends errored, "no calibrated threshold", until thresholds.yaml has a value with its source.
docs/authoring-a-test.md goes through one."""


def add_verbs(verbs: Any) -> None:
    parser = verbs.add_parser("new", help="write a new test into this source tree")
    parser.add_argument("slug", help="single-node.<words>, multi-node.<words> or pairwise.<words>")
    parser.set_defaults(act=new)


def new(stdout: OutputWrapper, options: dict[str, Any]) -> int:
    slug = options["slug"]
    for name in write_new_test(Path(settings.BASE_DIR), slug):
        stdout.write(name)
    nodes = {"multi-node": " --nodes 4", "pairwise": " --nodes 2"}.get(slug.partition(".")[0], "")
    stdout.write(NEXT.format(slug=slug, nodes=nodes))
    return 0
