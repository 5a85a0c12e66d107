"""The limits of one test on one class: every version, what changed, and an admin's new one."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from burnin.dashboards.catalogue import known_test
from burnin.dashboards.exports import Columns, export
from burnin.dashboards.limits_form import LimitsForm
from burnin.dashboards.reach import require_admin, require_role
from burnin.hardware_tests.base import BaseTest
from burnin.hardware_tests.thresholds.errors import BadThresholds, NoThresholds
from burnin.models import ThresholdVersion
from burnin.models.audit import Actor
from burnin.models.limits import add_operators_version
from burnin.selectors.bounds import bounds_of, differences
from burnin.selectors.limits import History, history_of
from fleet.models import ResourceClass


@login_required
def limits(request: HttpRequest, slug: str, resource_class: str) -> HttpResponseBase:
    require_role(request)
    test, kept = known_test(slug), _known_class(resource_class)
    history = history_of(slug, kept)
    exported = export(request, f"{slug}-{kept.name}", VERSION_COLUMNS, history.versions)
    if exported is not None:
        return exported
    before, after = _compared(request, history)
    context = {
        "test": test,
        "kept": kept,
        "history": history,
        "bounds": bounds_of(test, history.in_force) if history.in_force else (),
        "before": before,
        "after": after,
        "changes": differences(test, before, after) if before and after else (),
        "departures": _departures(test, history),
    }
    return render(request, "dashboards/limits.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HttpRequest, slug: str, resource_class: str) -> HttpResponse:
    require_admin(request)
    test, kept = known_test(slug), _known_class(resource_class)
    history = history_of(slug, kept)
    if request.method != "POST":
        return _form(request, LimitsForm(test, kept, history.in_force), status=200)
    form = LimitsForm(test, kept, history.in_force, request.POST)
    if not form.is_valid():
        return _form(request, form, status=400)
    try:
        version = add_operators_version(
            slug,
            kept.name,
            form.changes,
            by=Actor.of(request.user),
            reason=form.reason,
            now=timezone.now(),
            based_on=form.based_on,
        )
    except (NoThresholds, BadThresholds) as error:
        form.refuse(str(error))
        return _form(request, form, status=409)
    messages.success(request, f"{version.label} is in force. Running jobs keep their limits.")
    return redirect("dashboards:limits", slug, kept.name)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def restore(request: HttpRequest, slug: str, resource_class: str, number: int) -> HttpResponse:
    """Ask why on GET; on POST put what an older version says in force again, as a new one."""
    require_admin(request)
    test, kept = known_test(slug), _known_class(resource_class)
    history = history_of(slug, kept)
    wanted = next((each for each in history.versions if each.number == number), None)
    if wanted is None:
        raise Http404(f"there is no version {number}: choose one of the list")
    if request.method != "POST":
        return _ask_why(request, test, history, wanted, "", status=200)
    reason, seen = request.POST.get("reason", "").strip(), request.POST.get("based_on", "")
    if not reason:
        return _ask_why(request, test, history, wanted, "say why it changes", status=400)
    try:
        version = add_operators_version(
            slug,
            kept.name,
            wanted.bounds,
            by=Actor.of(request.user),
            reason=f"restores {wanted.label}: {reason}",
            now=timezone.now(),
            based_on=int(seen) if seen.isdecimal() and len(seen) < 10 else None,
        )
    except (NoThresholds, BadThresholds) as error:
        return _ask_why(request, test, history, wanted, str(error), status=409)
    messages.success(request, f"{version.label} is in force, and says what {wanted.label} said.")
    return redirect("dashboards:limits", slug, kept.name)


def _ask_why(
    request: HttpRequest,
    test: type[BaseTest],
    history: History,
    wanted: ThresholdVersion,
    refusal: str,
    *,
    status: int,
) -> HttpResponse:
    context = {
        "title": f"Restore {wanted.label}",
        "says": f"A new version of the limits of {test.slug} on {wanted.resource_class.name} says "
        f"what {wanted.label} said, and comes into force. Jobs that run keep their limits. "
        "Limits of a later release decide only when they are restored in turn.",
        "verb": "Put in force",
        "back": reverse("dashboards:limits", args=(test.slug, wanted.resource_class.name)),
        "seen": history.in_force.number if history.in_force else 0,
        "refusal": refusal,
        "reason": request.POST.get("reason", ""),
    }
    return render(request, "dashboards/ask_why.html", context, status=status)


def _form(request: HttpRequest, form: LimitsForm, *, status: int) -> HttpResponse:
    context = {"form": form, "test": form.test, "kept": form.kept}
    return render(request, "dashboards/edit_limits.html", context, status=status)


def _known_class(name: str) -> ResourceClass:
    return get_object_or_404(ResourceClass, name=name)


def _compared(
    request: HttpRequest, history: History
) -> tuple[ThresholdVersion | None, ThresholdVersion | None]:
    """Return the two versions that the address names, else what is in force and the one before."""
    numbers = (request.GET.get("before", ""), request.GET.get("after", ""))
    if not any(numbers):
        return history.before_in_force, history.in_force
    known = {str(each.number): each for each in history.versions}
    if unknown := [number for number in numbers if number not in known]:
        raise Http404(f"there is no version {unknown[0]:.20}: choose two of the list")
    return known[numbers[0]], known[numbers[1]]


def _departures(test: type[BaseTest], history: History) -> object:
    """Return where an operator's version in force says other than the newest release."""
    if history.in_force is None or history.shipped is None:
        return ()
    return differences(test, history.shipped, history.in_force)


VERSION_COLUMNS: Columns[ThresholdVersion] = {
    "number": lambda each: each.number,
    "label": lambda each: each.label,
    "origin": lambda each: each.origin,
    "created_at": lambda each: each.created_at,
    "created_by": lambda each: getattr(each.created_by, "username", ""),
    "reason": lambda each: each.reason,
    "bounds": lambda each: each.bounds,
}
