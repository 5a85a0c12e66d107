"""What of an address this visitor may see or do. What may not be seen is not there: 404."""

from __future__ import annotations

import uuid

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest

from burnin.models import Job, TestRun
from burnin.selectors.jobs import visible_job
from burnin.selectors.run import visible_run
from fleet.access import is_admin, may_operate, role_of, sites_of
from fleet.models import Site


def seen_job(request: HttpRequest, job_id: uuid.UUID) -> Job:
    job = visible_job(job_id, sites_of(request.user))
    if job is None:
        raise Http404("there is no such job at a site that you may see")
    return job


def seen_run(request: HttpRequest, run_id: uuid.UUID) -> TestRun:
    run = visible_run(run_id, sites_of(request.user))
    if run is None:
        raise Http404("there is no such run at a site that you may see")
    return run


def require_operator(request: HttpRequest, site: Site) -> None:
    """Raise PermissionDenied with a sentence unless the visitor operates this site."""
    if not may_operate(request.user, site):
        raise PermissionDenied(
            f"Only an operator of site {site.name} may do this: ask an admin for the role."
        )


def require_role(request: HttpRequest) -> None:
    """Raise PermissionDenied unless the visitor has any role: for what belongs to no site."""
    if role_of(request.user) is None:
        raise PermissionDenied("You have no role here: ask an admin for one.")


def require_admin(request: HttpRequest) -> None:
    if not is_admin(request.user):
        raise PermissionDenied("Only an admin may do this: ask one for the role.")
