"""Nodes, what was done to them, and how a job is started on some of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from unfold.widgets import UnfoldAdminSelectWidget

from burnin.admin.asking import Question, WhyForm, ask, ask_then, is_answered, key_of
from burnin.hardware_tests.stale_operations import load_stale_operations
from burnin.models import Preset
from burnin.models.audit import Actor
from burnin.workflow import nodes as doing
from burnin.workflow import wiring
from burnin.workflow.operations import AHEAD, report_operation
from burnin.workflow.plan import JobRequest, PlanRefused, plan_job
from fleet.access import Role
from fleet.admin_scope import ByRole, SiteFilter, is_at_least
from fleet.models import HardwareOperation, Node, Site


class StartForm(WhyForm):
    """Which preset, and why."""

    field_order = ("preset", "reason")
    preset = forms.ModelChoiceField(Preset.objects.order_by("name"), widget=UnfoldAdminSelectWidget)


@admin.register(Node)
class NodeAdmin(ByRole):
    site_path = "site"
    list_display = (
        "name",
        "site",
        "resource_class",
        "slurm_state",
        "is_usable",
        "excluded_because",
    )
    list_select_related = ("site", "resource_class")
    list_filter = (("site", SiteFilter), "resource_class", "is_usable")
    search_fields = ("name", "dmi_serial")
    readonly_fields = (
        "slurm_state",
        "slurm_reason",
        "is_usable",
        "seen_at",
        # What decides whether evidence counts is changed by the actions, which ask why.
        "excluded_because",
        *doing.IDENTITY,
    )
    actions = ("start_job", "leave_out", "take_back", "confirm_identity")

    @admin.action(description="Start a job on the selected nodes", permissions=["operate"])
    def start_job(self, request: HttpRequest, nodes: QuerySet[Node]) -> HttpResponse | None:
        operated = self.operated(request, nodes).select_related("site").order_by("site", "name")
        sites = list(Site.objects.filter(pk__in=operated.order_by().values("site")))
        if len(sites) != 1:
            self.message_user(request, "Choose nodes of one site: a job is one site's.", "error")
            return None
        form = StartForm(request.POST if is_answered(request) else None)
        if form.is_valid():
            return self._start(request, form, sites[0], operated)
        return self._ask_what(request, form, operated)

    @admin.action(description="Leave the selected nodes out", permissions=["operate"])
    def leave_out(self, request: HttpRequest, nodes: QuerySet[Node]) -> HttpResponse | None:
        says = "No test is sent to them any more; they are counted as skipped. What runs goes on."
        question = Question("leave_out", "Leave nodes out", says, "Leave out")
        return self._ask_then(request, nodes, question, doing.exclude, "left out")

    @admin.action(description="Take the selected nodes back", permissions=["operate"])
    def take_back(self, request: HttpRequest, nodes: QuerySet[Node]) -> HttpResponse | None:
        says = "Tests can be sent to them again. Each stands where its evidence puts it."
        question = Question("take_back", "Take nodes back", says, "Take back")
        return self._ask_then(request, nodes, question, doing.take_back, "taken back")

    @admin.action(
        description="Confirm which machines the selected nodes are", permissions=["operate"]
    )
    def confirm_identity(self, request: HttpRequest, nodes: QuerySet[Node]) -> HttpResponse | None:
        says = (
            "The inventory takes what each node last said of itself: serial, machine id and GPUs. "
            "Evidence of any other machine under its name no longer counts."
        )
        question = Question("confirm_identity", "Confirm machines", says, "Confirm")
        return self._ask_then(request, nodes, question, doing.confirm_identity, "confirmed")

    def _ask_then(
        self,
        request: HttpRequest,
        nodes: QuerySet[Node],
        question: Question,
        act: Callable[..., None],
        done: str,
    ) -> HttpResponse | None:
        def on(node: Node, reason: str) -> str:
            wish = doing.Wish(Actor.of(request.user), reason, key_of(request, node))
            act(node, wish, now=timezone.now())
            return done

        operated = self.operated(request, nodes).select_related("site").order_by("site", "name")
        return ask_then(self, request, question, operated, on, refusals=(doing.NodeRefused,))

    def _start(
        self, request: HttpRequest, form: StartForm, site: Site, nodes: QuerySet[Node]
    ) -> HttpResponse:
        asked = JobRequest(
            site=site,
            node_names=list(nodes.values_list("name", flat=True)),
            preset=form.cleaned_data["preset"],
            by=Actor.of(request.user),
            reason=form.cleaned_data["reason"],
            idempotency_key=key_of(request),
        )
        try:
            job = plan_job(asked, store=wiring.store(), bells=wiring.bells(), now=timezone.now())
        except PlanRefused as error:
            form.add_error(None, str(error))
            return self._ask_what(request, form, nodes)
        self.message_user(request, f"{job} is on its way.", messages.SUCCESS)
        return HttpResponseRedirect(reverse("dashboards:job", args=(job.pk,)))

    def _ask_what(
        self, request: HttpRequest, form: StartForm, nodes: QuerySet[Node]
    ) -> HttpResponse:
        count = nodes.count()
        says = f"{count:,} node{'' if count == 1 else 's'}: those that can be used are tested."
        question = Question("start_job", "Start a job", says, "Start the job")
        return ask(self, request, question, form, nodes)


def _operation_choices() -> list[tuple[str, str]]:
    return [(each.name, f"{each.name}: {each.means}") for each in load_stale_operations().values()]


class OperationForm(forms.ModelForm):
    operation = forms.ChoiceField(choices=_operation_choices, widget=UnfoldAdminSelectWidget)

    def clean_performed_at(self) -> Any:
        performed_at = self.cleaned_data["performed_at"]
        if performed_at > timezone.now() + AHEAD:
            raise ValidationError("It is yet to come: report what was done.")
        return performed_at


@admin.register(HardwareOperation)
class HardwareOperationAdmin(ByRole):
    """Reported here, never changed or taken back: what it spoiled must be shown again."""

    site_path = "node__site"
    form = OperationForm
    list_display = ("operation", "node", "performed_at", "recorded_by", "note")
    list_select_related = ("node", "recorded_by")
    list_filter = ("operation",)
    search_fields = ("node__name",)
    autocomplete_fields = ("node",)
    readonly_fields = ("recorded_by", "recorded_at")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return is_at_least(request, Role.OPERATOR)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: HardwareOperation, *_: Any) -> None:
        reported = report_operation(
            obj.node,
            obj.operation,
            performed_at=obj.performed_at,
            note=obj.note,
            by=Actor.of(request.user),
            now=timezone.now(),
        )
        obj.pk = reported.pk
