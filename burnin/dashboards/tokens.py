"""A visitor's own tokens: issued, seen once, revoked."""

from __future__ import annotations

from datetime import timedelta

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from burnin.dashboards.reach import require_role
from burnin.models.audit import Actor
from burnin.workflow.tokens import issue_token, revoke_token
from fleet.models import ApiToken
from fleet.models.api_token import LONGEST_LIFE, BadToken, Scope

MEANS = {
    Scope.READ: "Read",
    Scope.OPERATE: "Operate: start, cancel and re-run jobs, report operations, check sites",
    Scope.ADMIN: "Admin: edit limits",
}


class TokenForm(forms.Form):
    name = forms.CharField(max_length=100, label="What it is for")
    scopes = forms.MultipleChoiceField(
        choices=[(scope.value, words) for scope, words in MEANS.items()],
        widget=forms.CheckboxSelectMultiple,
        initial=[Scope.READ.value],
        label="What it may do, at most",
    )
    days = forms.IntegerField(
        min_value=1, max_value=LONGEST_LIFE.days, initial=90, label="Days until it expires"
    )


@login_required
@require_http_methods(["GET", "POST"])
def tokens(request: HttpRequest) -> HttpResponse:
    """List the visitor's tokens, and issue one; its text stands on this answer alone."""
    require_role(request)
    form, text = TokenForm(request.POST or None), ""
    if request.method == "POST" and form.is_valid():
        text = _issue(request, form)
    mine = ApiToken.objects.filter(user=_user(request)).defer("digest")
    context = {"form": form, "text": text, "tokens": list(mine), "now": timezone.now()}
    response = render(request, "dashboards/tokens.html", context)
    response["Cache-Control"] = "no-store"
    return response


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def revoke(request: HttpRequest, prefix: str) -> HttpResponse:
    """Ask why on GET; on POST let nobody in by the token from then on."""
    require_role(request)
    token = ApiToken.objects.filter(user=_user(request), prefix=prefix).first()
    if token is None:
        raise Http404("you have no such token")
    reason = request.POST.get("reason", "").strip()
    if request.method != "POST":
        return _ask(request, token, "", status=200)
    if not reason:
        return _ask(request, token, "say why: the reason stays in the audit list", status=400)
    revoke_token(token, by=Actor.of(request.user), now=timezone.now(), reason=reason)
    messages.success(request, f"{token.name} is revoked: whoever uses it is refused from now on.")
    return redirect("dashboards:tokens")


def _ask(request: HttpRequest, token: ApiToken, refusal: str, *, status: int) -> HttpResponse:
    context = {
        "title": f"Revoke {token.name}",
        "says": f"Whoever uses the token that begins with {token.prefix} is refused from then on. "
        "It cannot be taken back.",
        "verb": "Revoke",
        "back": reverse("dashboards:tokens"),
        "refusal": refusal,
    }
    return render(request, "dashboards/ask_why.html", context, status=status)


def _issue(request: HttpRequest, form: TokenForm) -> str:
    """Return the text of a new token; "" if the form now says why there is none."""
    stated, now = form.cleaned_data, timezone.now()
    try:
        _, text = issue_token(
            _user(request),
            name=stated["name"],
            scopes=stated["scopes"],
            expires_at=now + timedelta(days=stated["days"]),
            by=Actor.of(request.user),
            now=now,
        )
    except BadToken as error:
        form.add_error(None, str(error))
        return ""
    return text


def _user(request: HttpRequest) -> User:
    assert isinstance(request.user, User)
    return request.user
