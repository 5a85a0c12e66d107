"""Before hub and satellite start: tables, catalogue, this machine as a site, and a login."""

from datetime import UTC, datetime
from pathlib import Path

from django.contrib.auth.models import User
from django.core.management import call_command

from burnin.satellite.config import BadSite, SiteConfig, load_site, token_of
from burnin.workflow import wiring
from deploy.one_machine.jobs import cancel_jobs
from deploy.one_machine.own_slurm import PARTITION
from deploy.one_machine.place import LOGIN_NAME
from fleet.models import Site, SiteToken


def prepare(site_file: Path, password_file: Path) -> None:
    """Bring the database to what this start needs; what operators changed stays as it is."""
    call_command("migrate", verbosity=0)
    call_command("load_catalogue")
    config = load_site(site_file)
    site = make_site(config)
    make_login(password_file.read_text().strip())
    if config.hub is not None and not opens(site, config):
        call_command("issue_site_token", site.name, file=config.hub.token_file)
    queue, now = wiring.site_queue(), datetime.now(UTC)
    cancel_jobs(site, "`make run` was killed while this ran", queue=queue, now=now)


def make_site(config: SiteConfig) -> Site:
    """Make this machine's site, or follow where its directory went."""
    site, _ = Site.objects.update_or_create(
        name=config.name,
        defaults={"work_dir": config.work_dir, "node_path": config.node_path},
        create_defaults={
            "description": "This machine, by `make run`.",
            "partition": PARTITION,
            "work_dir": config.work_dir,
            "node_path": config.node_path,
        },
    )
    return site


def make_login(password: str) -> None:
    """Make the operator's login unless there is one. Whoever runs all this may do all of it."""
    if not User.objects.filter(username=LOGIN_NAME).exists():
        User.objects.create_superuser(LOGIN_NAME, password=password)


def opens(site: Site, config: SiteConfig) -> bool:
    """Return whether the satellite's token file holds a token that the hub takes from it."""
    if config.hub is None:
        return False
    try:
        token = SiteToken.find(token_of(config.hub))
    except BadSite:
        return False
    return token is not None and token.site_id == site.pk and token.revoked_at is None
