"""A site's token is told once, to whoever issues it."""

import io
import stat
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from burnin.models import AuditEntry
from fleet.models import Site, SiteToken

pytestmark = pytest.mark.django_db


@pytest.fixture
def site() -> Site:
    return Site.objects.create(name="east", partition="main", work_dir="/work")


def test_the_printed_token_is_the_sites(site: Site) -> None:
    stdout = io.StringIO()

    call_command("issue_site_token", "east", stdout=stdout)

    token = SiteToken.find(stdout.getvalue().strip())
    assert token is not None
    assert token.site == site
    [entry] = AuditEntry.objects.all()
    assert (entry.action, entry.user_name, entry.site) == (
        "issue site token",
        "manage.py issue_site_token",
        site,
    )


def test_a_file_can_be_read_by_us_only_and_is_replaced(site: Site, tmp_path: Path) -> None:
    path = tmp_path / "token"

    for _ in range(2):
        call_command("issue_site_token", "east", "--file", str(path))

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert SiteToken.find(path.read_text().strip()) is not None
    assert SiteToken.objects.count() == 2


def test_an_unknown_site_is_refused(site: Site) -> None:
    with pytest.raises(CommandError, match=r"there is no site 'west' \(known: east\)"):
        call_command("issue_site_token", "west")


def test_a_file_that_cannot_be_written_leaves_no_token(site: Site, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="cannot be written"):
        call_command("issue_site_token", "east", "--file", str(tmp_path / "no" / "token"))

    assert not SiteToken.objects.exists()
    assert not AuditEntry.objects.exists()
