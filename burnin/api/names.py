"""Names in filters: one that there is not must not be answered with an empty list.

"Nothing is failing at `est`" would be read as good news of `east`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

from burnin.api.permissions import visible_sites
from burnin.models import Preset, ThresholdVersion
from fleet.models import Node, ResourceClass, Site
from runner.contract.slugs import all_slugs


def require_known(request: Request) -> None:
    """Raise ValidationError for a filter by a name that nothing has, as far as the caller sees."""
    for parameter, (is_known, where) in _KINDS.items():
        name = request.query_params.get(parameter)
        if name and not is_known(request, name):
            says = f"there is no {name!r:.80}{where}"
            raise ValidationError({parameter: says})


def _site(request: Request, name: str) -> bool:
    return Site.objects.filter(pk__in=visible_sites(request), name=name).exists()


def _node(request: Request, name: str) -> bool:
    return Node.objects.filter(site__in=visible_sites(request), name=name).exists()


def _resource_class(_: Request, name: str) -> bool:
    return ResourceClass.objects.filter(name=name).exists()


def _preset(_: Request, name: str) -> bool:
    return Preset.objects.filter(name=name).exists()


def _slug(_: Request, name: str) -> bool:
    """A test of an earlier release is known by its limits, which are kept as its results are."""
    return name in all_slugs() or ThresholdVersion.objects.filter(slug=name).exists()


_KINDS: Mapping[str, tuple[Callable[[Request, str], bool], str]] = {
    "site": (_site, " that you may see; see /api/v1/sites"),
    "node": (_node, " that you may see; see /api/v1/nodes"),
    "resource_class": (_resource_class, "; see /api/v1/resource-classes"),
    "preset": (_preset, "; see /api/v1/presets"),
    "slug": (_slug, "; see /api/v1/tests"),
}
