"""What an operator says to start a job, and what is wrong with it, field by field."""

from __future__ import annotations

import uuid
from typing import Any

from django import forms
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.db.models import Count, QuerySet, Sum
from django.utils import timezone

from burnin.models import Preset
from burnin.models.audit import Actor
from burnin.selectors.nodes import Place, placed
from burnin.slurm.hostlist import BadHostList, expand_typed
from burnin.workflow.plan import JobRequest
from fleet.access import sites_operated_by
from fleet.models import Node, ResourceClass, Site

HOSTLIST, FILTER = "hostlist", "filter"
LONGEST_HOSTLIST = 20_000


def presets_to_choose() -> QuerySet[Preset]:
    """Return the presets with how many tests and minutes each has, in one query."""
    counted = Preset.objects.prefetch_related("acceptances__resource_class")
    return counted.annotate(test_count=Count("steps"), minutes=Sum("steps__timeout_minutes"))


class StartForm(forms.Form):
    """Nodes are named by a host list, or by site, class and where they stand."""

    preset = forms.ModelChoiceField(
        Preset.objects.all(),
        to_field_name="name",
        error_messages={
            "required": "Choose what to run.",
            "invalid_choice": "There is no such preset: choose one of the list.",
        },
    )
    site = forms.ModelChoiceField(
        Site.objects.none(),
        to_field_name="name",
        error_messages={
            "required": "Choose the site.",
            "invalid_choice": "You operate no such site: choose one of the list.",
        },
    )
    by = forms.ChoiceField(choices=[(HOSTLIST, "Hostlist"), (FILTER, "Filter")], required=False)
    hosts = forms.CharField(max_length=LONGEST_HOSTLIST, required=False)
    resource_class = forms.ModelChoiceField(
        ResourceClass.objects.all(), to_field_name="name", required=False
    )
    place = forms.ChoiceField(choices=[("", "any"), *Place.choices], required=False)
    reason = forms.CharField(max_length=1000, required=False)
    key = forms.UUIDField(required=False)

    def __init__(self, data: Any, *, user: AbstractBaseUser | AnonymousUser) -> None:
        super().__init__(data)
        sites = self.fields["site"]
        assert isinstance(sites, forms.ModelChoiceField)
        sites.queryset = sites_operated_by(user)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if (site := cleaned.get("site")) is not None:
            cleaned["node_names"] = self._node_names(site, cleaned)
        return cleaned

    def request_of(self, actor: Actor) -> JobRequest:
        """Return what was asked for. Call it on a valid form."""
        said = self.cleaned_data
        return JobRequest(
            site=said["site"],
            node_names=said["node_names"],
            preset=said["preset"],
            by=actor,
            reason=said["reason"],
            idempotency_key=str(said["key"] or uuid.uuid4()),
        )

    def _node_names(self, site: Site, cleaned: dict[str, Any]) -> list[str]:
        if cleaned.get("by") == FILTER:
            return self._filtered(site, cleaned.get("resource_class"), cleaned.get("place"))
        text = (cleaned.get("hosts") or "").strip()
        if not text:
            self.add_error("hosts", "Name at least one node, e.g. n[1-4],n9.")
            return []
        try:
            return expand_typed(text)
        except BadHostList as error:
            self.add_error(
                "hosts", f"{error}. Slurm's form is n[1-4],n9; white space parts names, too."
            )
            return []

    def _filtered(
        self, site: Site, resource_class: ResourceClass | None, place: str | None
    ) -> list[str]:
        nodes = Node.objects.filter(site=site).order_by("name")
        if resource_class is not None:
            nodes = nodes.filter(resource_class=resource_class)
        if place:
            nodes = placed(nodes, timezone.now()).filter(**{"place": place})
        names = list(nodes.values_list("name", flat=True))
        if not names:
            self.add_error("resource_class", f"Site {site.name} has no node like that.")
        return names
