"""The page between an action and its doing: what will happen, and why it is wanted."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.admin import helpers
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from unfold.widgets import UnfoldAdminTextareaWidget

from burnin.models.audit import LONGEST_REASON

ANSWERED = "answered"
KEY = "key"  # its name in templates/admin/ask.html
ROWS_NAMED = 12


class WhyForm(forms.Form):
    """The reason alone; an action that needs more extends it."""

    reason = forms.CharField(
        label="Why?",
        max_length=LONGEST_REASON,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 3}),
        help_text="Kept in the audit list with your name and the time.",
    )


@dataclass(frozen=True)
class Question:
    """`action` is the method's name, `says` what will happen, `verb` the word on the button."""

    action: str
    title: str
    says: str
    verb: str


def is_answered(request: HttpRequest) -> bool:
    return ANSWERED in request.POST


def ask(
    place: Any, request: HttpRequest, question: Question, form: forms.Form, rows: QuerySet[Any]
) -> TemplateResponse:
    """Show the question with its form. `place` is the ModelAdmin whose action it is."""
    named = list(rows[: ROWS_NAMED + 1])
    context = {
        "key": request.POST.get(KEY) or uuid.uuid4(),
        **place.admin_site.each_context(request),
        "title": question.title,
        "opts": place.opts,
        "question": question,
        "form": form,
        "rows": named[:ROWS_NAMED],
        "has_more": len(named) > ROWS_NAMED,
        "selected": request.POST.getlist(helpers.ACTION_CHECKBOX_NAME),
        "select_across": request.POST.get("select_across", "0"),
        "checkbox_name": helpers.ACTION_CHECKBOX_NAME,
        "answered": ANSWERED,
    }
    return TemplateResponse(request, "admin/ask.html", context)


def ask_then(
    place: Any,
    request: HttpRequest,
    question: Question,
    rows: QuerySet[Any],
    act: Callable[[Any, str], str],
    *,
    refusals: tuple[type[Exception], ...] = (),
) -> HttpResponse | None:
    """Ask why; when that is answered, do it to each row and say what became of each.

    `act` is given the row and the reason, and says what was done or raises one of `refusals`.
    """
    form = WhyForm(request.POST if is_answered(request) else None)
    if not form.is_valid():
        return ask(place, request, question, form, rows)
    for row in rows:
        try:
            done = act(row, form.cleaned_data["reason"])
            place.message_user(request, f"{row}: {done}", messages.SUCCESS)
        except refusals as error:
            place.message_user(request, f"{row}: {error}", messages.ERROR)
    return None


def key_of(request: HttpRequest, row: Model | None = None) -> str:
    """Return what makes a form that is sent twice one act, to each row of many."""
    try:
        key = str(uuid.UUID(request.POST.get(KEY)))
    except (TypeError, ValueError):  # no form of ours: an act of its own
        key = str(uuid.uuid4())
    return key if row is None else f"{key} {row.pk}"
