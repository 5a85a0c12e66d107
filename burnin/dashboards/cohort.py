"""Nodes of one site and class side by side: what most of them tell, and who tells else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render

from burnin.dashboards.exports import export
from burnin.dashboards.sites import seen_site
from burnin.selectors.cohort import Cohort, cohort_of
from fleet.models import HardwareUnstated, ResourceClass


@login_required
def cohort(request: HttpRequest, name: str, resource_class: str) -> HttpResponseBase:
    site = seen_site(request, name)
    kind = get_object_or_404(ResourceClass, name=resource_class)
    found = cohort_of(site, kind)
    exported = export(request, f"{site.name}-{kind.name}", COLUMNS, _rows(found))
    if exported is not None:
        return exported
    context = {
        "site": site,
        "resource_class": kind,
        "hardware": _hardware_words(kind),
        "cohort": found,
    }
    return render(request, "dashboards/cohort.html", context)


def _hardware_words(kind: ResourceClass) -> str:
    try:
        return f"each node has {kind.hardware.words}"
    except HardwareUnstated as unstated:
        return str(unstated)


def _rows(cohort: Cohort) -> Iterator[tuple[str, str, int, tuple[str, ...], bool]]:
    """Yield component, words, how many nodes, their names, and whether they are most."""
    for each in cohort.components:
        if each.most:
            yield each.name, each.most.text, each.most.count, (), True
        for words in each.others:
            yield each.name, words.text, words.count, words.names, False


COLUMNS: Mapping[str, Any] = {
    "component": lambda row: row[0],
    "words": lambda row: row[1],
    "nodes": lambda row: row[2],
    "names": lambda row: ", ".join(row[3]),
    "most": lambda row: row[4],
}
