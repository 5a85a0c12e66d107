"""What an operator does to a node here. Each asks why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.views.decorators.http import require_http_methods

from burnin.dashboards.form_keys import DamagedForm, sent_key, shown_key
from burnin.dashboards.node import seen_node
from burnin.dashboards.reach import require_operator
from burnin.hardware_tests.stale_operations import load_stale_operations
from burnin.models.audit import Actor
from burnin.workflow import nodes as doing
from burnin.workflow.operations import OperationRefused, report_operation
from fleet.models import Node


@dataclass(frozen=True)
class NodeAsk:
    """One act: what its page says before, and what the page of the node says after."""

    title: str
    says: str
    verb: str
    done: str
    act: Callable[..., None]


EXCLUDE = NodeAsk(
    "Leave {} out",
    "No test is sent to it any more, and it is counted as skipped. What runs there goes on.",
    "Leave out",
    "{} is left out.",
    doing.exclude,
)
TAKE_BACK = NodeAsk(
    "Take {} back",
    "Tests can be sent to it again. It stands where its evidence puts it.",
    "Take back",
    "{} is back.",
    doing.take_back,
)
CONFIRM = NodeAsk(
    "{} is this machine",
    "The inventory takes what the node last said of itself: serial, machine id and GPUs. "
    "Evidence of any other machine under this name no longer counts.",
    "Confirm",
    "The inventory knows {} now.",
    doing.confirm_identity,
)

_BOTH = require_http_methods(["GET", "HEAD", "POST"])


@login_required
@_BOTH
def exclude(request: HttpRequest, site: str, name: str) -> HttpResponse:
    return _answer(request, site, name, EXCLUDE)


@login_required
@_BOTH
def take_back(request: HttpRequest, site: str, name: str) -> HttpResponse:
    return _answer(request, site, name, TAKE_BACK)


@login_required
@_BOTH
def confirm_identity(request: HttpRequest, site: str, name: str) -> HttpResponse:
    """What is confirmed is what the page showed, and nothing that the node says meanwhile."""
    act = partial(doing.confirm_identity, shown=request.POST.get("shown", ""))
    return _answer(request, site, name, replace(CONFIRM, act=act))


@login_required
@_BOTH
def operation(request: HttpRequest, site: str, name: str) -> HttpResponse:
    """Take down what was done to the node."""
    node = _operated(request, site, name)
    if request.method != "POST":
        return _operation_form(request, node, {}, "", status=200)
    given = {name: request.POST.get(name, "") for name in ("operation", "performed_at", "note")}
    at = _moment(given["performed_at"])
    if at is None or not given["operation"]:
        says = _missing(given["operation"], at)
        return _operation_form(request, node, given, says, status=400)
    try:
        report_operation(
            node,
            given["operation"],
            performed_at=at,
            note=given["note"],
            by=Actor.of(request.user),
            now=timezone.now(),
            idempotency_key=sent_key(request),
        )
    except (OperationRefused, DamagedForm) as error:
        return _operation_form(request, node, given, str(error), status=400)
    messages.success(request, f"{given['operation']} on {node.name} is taken down.")
    return _to(node)


def _operated(request: HttpRequest, site: str, name: str) -> Node:
    node = seen_node(request, site, name, timezone.now())
    require_operator(request, node.site)
    return node


def _answer(request: HttpRequest, site: str, name: str, ask: NodeAsk) -> HttpResponse:
    node = _operated(request, site, name)
    if request.method != "POST":
        return _form(request, node, ask, "", status=200)
    reason = request.POST.get("reason", "")
    try:
        wish = doing.Wish(Actor.of(request.user), reason, sent_key(request))
        ask.act(node, wish, now=timezone.now())
    except (doing.NodeRefused, DamagedForm) as error:
        return _form(request, node, ask, str(error), status=409)
    messages.success(request, ask.done.format(node.name))
    return _to(node)


def _form(
    request: HttpRequest, node: Node, ask: NodeAsk, refusal: str, *, status: int
) -> HttpResponse:
    context = {
        "node": node,
        "title": ask.title.format(node.name),
        "says": ask.says,
        "verb": ask.verb,
        "refusal": refusal,
        "reason": request.POST.get("reason", ""),
        "key": shown_key(request),
    }
    if ask.title == CONFIRM.title:
        said = doing.seen_identity(node)
        context |= {"said": said, "mark": doing.mark_of(said)}
    return render(request, "dashboards/node_why.html", context, status=status)


def _operation_form(
    request: HttpRequest, node: Node, given: dict[str, str], refusal: str, *, status: int
) -> HttpResponse:
    context = {
        "node": node,
        "given": given,
        "refusal": refusal,
        "known": load_stale_operations().values(),
        "key": shown_key(request),
    }
    return render(request, "dashboards/operation.html", context, status=status)


def _missing(operation: str, at: datetime | None) -> str:
    """Say all that is missing at once: who fills a form in looks at it once."""
    what = "" if operation else "choose what was done"
    when = "" if at else "say when it was done, like 2026-11-29 14:30"
    return "; ".join(filter(None, (what, when)))


def _moment(text: str) -> datetime | None:
    """Read a time in UTC as a browser's field writes it, or as a person would."""
    try:
        at = parse_datetime(text.strip().replace(" ", "T"))
    except ValueError:
        return None
    if at is None:
        return None
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at


def _to(node: Node) -> HttpResponse:
    return redirect("dashboards:node", node.site.name, node.name)
