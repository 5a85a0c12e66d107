"""No page, admin view or endpoint lets in whom it should not: each is found, none is listed.

A new address is held to this without being named here. One that is for everybody must be.
"""

from __future__ import annotations

from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from burnin.models.limits import load_shipped
from burnin.tests.api.callers import bearer, fill, text_of_token
from burnin.tests.doors import ADMIN, address, patterns_of_regexes, routes, subjects
from burnin.tests.factories import a_site, a_user
from fleet.access import Role
from fleet.models import ApiToken, Node, Site, SiteAccess

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]
API = "api/v1/"

# Whoever comes gets an answer: there is nothing of the fleet in it.
FOR_EVERYBODY = {
    "login",
    "logout",
    "admin/login/",
    "admin/logout/",
    API,
    f"{API}schema",
    f"{API}docs",
}
# What lets in has its own tests: a site's token, or a signature in the URL.
OTHER_KEYS = {f"{API}satellite/facts", f"{API}store/<path:key>"}
# Written with re_path(): no address can be made of it by itself.
APP = f"{ADMIN}^(?P<app_label>"
REGEXES = {
    f"{API}^satellite/bundles/(?P<sha256>[0-9a-f]{{64}})$",  # a site's token
    f"{API}^",  # nothing is there
    f"{ADMIN}(?P<url>.*)$",  # nothing is there
}
# A viewer's own: nobody gains by it.
OWN = {
    f"{API}tokens",
    f"{API}tokens/<name:prefix>/revoke",
    "account/tokens",
    "account/tokens/<str:prefix>/revoke",
}
# Behind these words stands nothing of a site, and whoever has a role may read it.
OF_NO_SITE = ("tests/<", "presets/<", "thresholds/<")
ADMIN_OF_NO_SITE = {
    "resourceclass",
    "preset",
    "historicalpreset",
    "presetstep",
    "thresholdversion",
    "user",
    "group",
}

OF_APPS = [f"{ADMIN}{app}/" for app in ("fleet", "burnin", "auth")]  # behind APP
GUARDED = [*OF_APPS, *(each for each in routes() if each not in FOR_EVERYBODY | OTHER_KEYS)]


@pytest.fixture
def west() -> Site:
    """A site with a row of everything, which nobody here may see but its own viewer."""
    load_shipped()
    site = a_site("west-is-secret")
    fill(site, 1)
    Node.objects.filter(site=site).update(name="hidden-node")
    text_of_token(User.objects.create(username="west"), name="west")
    return site


def _staff(role: Role, site: Site) -> User:
    user = a_user(role, site)
    user.is_staff = True
    user.save()
    return user


def _logged_in(user: User) -> Client:
    client = Client(raise_request_exception=True)
    client.force_login(user)
    return client


def _is_shut(answer: Any) -> bool:
    """Say whether an answer shows nothing and does nothing."""
    if answer.status_code == 302:
        goes_to = str(answer["Location"]).partition("?")[0]
        # Django's admin sends old addresses of a row on to its page, which is a door of its own.
        return goes_to in ("/login", "/admin/login/") or goes_to.endswith("/change/")
    return answer.status_code in (401, 403, 404, 405)


def _says_what_to_do(answer: Any) -> bool:
    """Say whether a refusal by the API is its one sentence."""
    return list(answer.json()) == ["error"] and len(answer.json()["error"].split()) > 3


def _rows() -> dict[str, int]:
    """Count every row of ours, but for those that make the callers."""
    ours = [each for each in apps.get_models() if each._meta.app_label in ("fleet", "burnin")]
    return {
        each.__name__: each._default_manager.count()
        for each in ours
        if each not in (ApiToken, Site, SiteAccess)
    }


def test_every_address_that_is_a_regular_expression_is_known() -> None:
    found = {each for each in patterns_of_regexes() if not each.startswith(APP)}

    assert found == REGEXES


def test_what_is_for_everybody_is_still_there() -> None:
    assert set(routes()) >= FOR_EVERYBODY | OTHER_KEYS


@pytest.mark.parametrize("route", GUARDED)
def test_an_address_lets_in_nobody_whom_it_should_not(route: str, west: Site) -> None:
    url, before = address(route, subjects(west)), _rows()

    for stranger in (Client(), *_bad_tokens()):
        for answer in (stranger.get(url), stranger.post(url)):
            assert _is_shut(answer), f"{answer.status_code} to a stranger at {url}"
            if route.startswith(API):
                assert answer.status_code == 401
                assert _says_what_to_do(answer)
    _refuse_a_viewers_write(route, url, west)
    _show_a_neighbour_nothing(route, url)
    assert _rows() == before, f"{url} has written something"


def _bad_tokens() -> list[Client]:
    """Return who shows an expired token, and who a revoked one, of somebody who may do all."""
    admin = User.objects.create_superuser("root")
    expired, revoked = text_of_token(admin), text_of_token(admin)
    now = timezone.now()
    ApiToken.objects.filter(prefix=expired[:12]).update(expires_at=now)
    ApiToken.objects.filter(prefix=revoked[:12]).update(revoked_at=now)
    return [bearer(expired), bearer(revoked)]


def _refuse_a_viewers_write(route: str, url: str, west: Site) -> None:
    if route in OWN:
        return
    answer = _logged_in(_staff(Role.VIEWER, west)).post(url)
    # The admin's lists show themselves whatever is sent: that they write nothing is asked below.
    assert _is_shut(answer) or route.startswith(ADMIN), f"{answer.status_code} to a viewer at {url}"
    if route.startswith(API):
        assert _says_what_to_do(answer)
    User.objects.filter(username="ada").delete()


def _show_a_neighbour_nothing(route: str, url: str) -> None:
    neighbour = _logged_in(_staff(Role.OPERATOR, a_site("east")))
    for answer in (neighbour.get(url), neighbour.post(url)):
        if _names_a_row(route):
            assert _is_shut(answer), f"{answer.status_code} to another site's operator at {url}"
        elif not _is_shut(answer):
            shown = b"".join(answer) if answer.streaming else answer.content
            assert b"west-is-secret" not in shown, f"{url} names a site that is none of theirs"
            assert b"hidden-node" not in shown, f"{url} names a node that is none of theirs"


def _names_a_row(route: str) -> bool:
    """Say whether the address is of one row, which is some site's."""
    if "<" not in route or any(word in route for word in OF_NO_SITE):
        return False
    return not (route.startswith(ADMIN) and route.split("/")[2] in ADMIN_OF_NO_SITE)
