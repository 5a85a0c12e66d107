"""`hardware_tests generate-sbatch`: what would be sent, without sending it."""

from typing import Any

from django.conf import settings
from django.core.management.base import OutputWrapper

from burnin.management.hardware_tests import order
from burnin.satellite.config import SiteConfig
from burnin.workflow import wiring
from burnin.workflow.render import make_submission

NOWHERE = SiteConfig(name="nowhere", work_dir="/work_dir")


def add_verbs(verbs: Any) -> None:
    parser = verbs.add_parser("generate-sbatch", help="render a run's batch script")
    order.add_options(parser)
    parser.add_argument("--site", help="use this site's paths; else placeholders stand there")
    parser.add_argument("--show-script", action="store_true", help="the script, not its directives")
    parser.set_defaults(act=generate)


def generate(stdout: OutputWrapper, options: dict[str, Any]) -> int:
    name = options["site"]
    site = wiring.named_site(name, sites_dir=settings.SITES_DIR) if name else NOWHERE
    asked = order.order_from(options)
    bundle = wiring.bundle(build_dir=settings.VAR_DIR / "bundles")
    script = make_submission(
        asked,
        site,
        bundle_path=f"{site.work_dir}/bundles/{bundle.name}",
        bundle_sha256=bundle.sha256,
    ).script
    lines = script.splitlines()
    if not options["show_script"]:
        lines = [line for line in lines if line.startswith("#SBATCH")]
    stdout.write("\n".join(lines))
    return 0
