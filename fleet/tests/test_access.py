"""Roles and sites, and that whoever has neither sees nothing."""

import pytest
from django.contrib.auth.models import AnonymousUser, Group, User

from fleet.access import (
    Role,
    is_admin,
    may_operate,
    may_see,
    role_of,
    sites_of,
    sites_operated_by,
)
from fleet.models import Site, SiteAccess

pytestmark = pytest.mark.django_db


def _user(role: Role | None, *sites: Site | None) -> User:
    user = User.objects.create_user("someone")
    if role is not None:
        user.groups.add(Group.objects.get(name=role))
    for site in sites:
        SiteAccess.objects.create(user=user, site=site)
    return user


def _site(name: str) -> Site:
    return Site.objects.create(name=name, partition="main", work_dir="/work")


def test_each_role_has_its_group() -> None:
    assert set(Group.objects.values_list("name", flat=True)) == set(Role)


def test_a_viewer_sees_its_site_and_operates_nothing() -> None:
    here, there = _site("here"), _site("there")

    user = _user(Role.VIEWER, here)

    assert list(sites_of(user)) == [here]
    assert may_see(user, here) and not may_see(user, there)
    assert not may_operate(user, here)


def test_an_operator_operates_its_site_and_no_other() -> None:
    here, there = _site("here"), _site("there")

    user = _user(Role.OPERATOR, here)

    assert may_operate(user, here) and not may_operate(user, there)
    assert not is_admin(user)


def test_a_row_without_a_site_opens_every_site() -> None:
    here, there = _site("here"), _site("there")

    user = _user(Role.ADMIN, None)

    assert set(sites_operated_by(user)) == {here, there}
    assert is_admin(user)


def test_a_role_without_a_site_sees_nothing() -> None:
    assert not may_see(_user(Role.ADMIN), _site("here"))


def test_a_site_without_a_role_sees_nothing() -> None:
    here = _site("here")

    assert not may_see(_user(None, here), here)


def test_a_group_of_another_name_is_no_role() -> None:
    user = _user(None, None)
    user.groups.add(Group.objects.create(name="administrators"))

    assert role_of(user) is None


def test_the_highest_of_several_roles_counts() -> None:
    user = _user(Role.OPERATOR)
    user.groups.add(Group.objects.get(name=Role.VIEWER))

    assert role_of(user) is Role.OPERATOR


def test_an_account_that_was_closed_has_no_role() -> None:
    user = _user(Role.ADMIN, None)
    user.is_active = False

    assert role_of(user) is None and not sites_of(user).exists()


def test_nobody_is_nobody() -> None:
    assert not sites_of(AnonymousUser()).exists() and not is_admin(AnonymousUser())


def test_a_superuser_is_an_admin_everywhere() -> None:
    here = _site("here")

    root = User.objects.create_superuser("root")

    assert is_admin(root) and may_operate(root, here)
