"""Who may do what, and where. Pages, admin and REST ask here and nowhere else.

A role says what a user may do; `SiteAccess` rows say at which sites. Without a role or without a
row there is nothing. A superuser is an admin at every site.
"""

from enum import StrEnum
from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser, Group, User
from django.db.models import QuerySet

from fleet.models import Site, SiteAccess

Account = AbstractBaseUser | AnonymousUser


class Role(StrEnum):
    """The groups that count, the least first. Others mean nothing here."""

    VIEWER = "viewer"  # reads
    OPERATOR = "operator"  # starts, cancels and re-runs jobs, reports operations
    ADMIN = "admin"  # edits inventory, presets and limits, issues tokens of sites


def make_groups(*, using: str, **_: Any) -> None:
    """Have a group for each role, after every `migrate`."""
    for role in Role:
        Group.objects.using(using).get_or_create(name=role)


def role_of(account: Account) -> Role | None:
    """Return the highest role of an account; None for whoever has none or is not active."""
    if not isinstance(account, User) or not account.is_active:
        return None
    if account.is_superuser:
        return Role.ADMIN
    named = set(account.groups.values_list("name", flat=True))
    return max((role for role in Role if role in named), key=list(Role).index, default=None)


def sites_of(account: Account) -> QuerySet[Site]:
    """Return the sites that an account may see."""
    if role_of(account) is None:
        return Site.objects.none()
    return _granted(account)


def sites_operated_by(account: Account) -> QuerySet[Site]:
    """Return the sites where an account may start, cancel and report."""
    if role_of(account) not in (Role.OPERATOR, Role.ADMIN):
        return Site.objects.none()
    return _granted(account)


def may_see(account: Account, site: Site) -> bool:
    return sites_of(account).filter(pk=site.pk).exists()


def may_operate(account: Account, site: Site) -> bool:
    return sites_operated_by(account).filter(pk=site.pk).exists()


def is_admin(account: Account) -> bool:
    """Say whether an account may edit what belongs to no site: presets, limits, classes.

    What belongs to a site asks `may_see` as well.
    """
    return role_of(account) is Role.ADMIN


def _granted(account: Account) -> QuerySet[Site]:
    if not isinstance(account, User):
        return Site.objects.none()
    rows = SiteAccess.objects.filter(user=account)
    if account.is_superuser or rows.filter(site=None).exists():
        return Site.objects.all()
    return Site.objects.filter(pk__in=rows.values("site"))
