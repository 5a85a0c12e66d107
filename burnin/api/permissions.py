"""What a caller may do here: the role, the token's scope and the sites must all allow it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from django.db.models import QuerySet
from rest_framework.exceptions import PermissionDenied
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from burnin.api.callers import user_of
from fleet.access import Role, role_of, sites_of, sites_operated_by
from fleet.models import ApiToken, Site
from fleet.models.api_token import Scope

if TYPE_CHECKING:  # REST framework's views load this module through the settings
    from rest_framework.views import APIView

LEAST_ROLE = {Scope.READ: Role.VIEWER, Scope.OPERATE: Role.OPERATOR, Scope.ADMIN: Role.ADMIN}
READS: Mapping[str, Scope] = dict.fromkeys(SAFE_METHODS, Scope.READ)


class MayAct(BasePermission):
    """Asks for the scope that `view.scopes` names for the method: writing, unless it says other."""

    message = ""

    def has_permission(self, request: Request, view: APIView) -> bool:
        if not request.user.is_authenticated:
            return False
        stated: Mapping[str, Scope] = getattr(view, "scopes", {})
        scope = stated.get(str(request.method), READS.get(str(request.method), Scope.OPERATE))
        self.message = _why_not(request, scope)
        return not self.message


def visible_sites(request: Request) -> list[int]:
    """Return the ids of the sites that the caller may see."""
    return list(sites_of(user_of(request)).values_list("pk", flat=True))


def site_to_operate(request: Request, name: str) -> Site:
    """Return a site where the caller may start and end things. Raises PermissionDenied."""
    return _one(sites_operated_by(user_of(request)), name)


def require_operated(request: Request, site: Site) -> None:
    """Raise PermissionDenied unless the caller may start and end things at the site."""
    _one(sites_operated_by(user_of(request)), site.name)


def _one(sites: QuerySet[Site], name: str) -> Site:
    site = sites.filter(name=name).first()
    if site is None:
        # Whether there is such a site is nobody's business who may not see it.
        raise PermissionDenied(
            f"you may not operate a site {name!r:.80}: ask an admin for access to it"
        )
    return site


def _why_not(request: Request, scope: Scope) -> str:
    token: object = request.auth
    if isinstance(token, ApiToken) and not token.allows(scope):
        return f"this token has not the scope {scope.value}: issue one that has it"
    role, needed = role_of(request.user), LEAST_ROLE[scope]
    if role is None:
        return "you have no role here: ask an admin to put you into a group (viewer, operator, …)"
    if list(Role).index(role) < list(Role).index(needed):
        return f"this takes the role {needed.value}, and you are {role.value}: ask an admin"
    return ""
