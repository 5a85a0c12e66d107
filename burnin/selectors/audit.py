"""Who did what and why, newest first."""

from __future__ import annotations

from django.db.models import Q, QuerySet

from burnin.models import AuditEntry
from fleet.access import Account, is_admin, sites_of


def entries_for(account: Account) -> QuerySet[AuditEntry]:
    """Return what was done at the account's sites; to an admin, also what belongs to no site."""
    seen = Q(site__in=sites_of(account))
    if is_admin(account):
        seen |= Q(site=None)
    return AuditEntry.objects.filter(seen).select_related("site")
