"""Every address of the hub, found through the URL resolver, with rows that it can be asked for.

An address is known by its route, like `api/v1/jobs/<uuid:id>/cancel`. What stands behind a word of
it says `SUBJECTS`; below /admin/ it is a row of the model that the address names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from django.apps import apps
from django.contrib.contenttypes.models import ContentType
from django.urls import URLPattern, URLResolver, get_resolver
from django.urls.resolvers import RoutePattern

from burnin.models import Artifact, Attempt, Preset, TestResult, TestRun
from fleet.models import ApiToken, Node, Site
from runner.contract.slugs import Slugs

PARAMETER = re.compile(r"<(?:[a-z_]+:)?([A-Za-z_]+)>")
ADMIN = "admin/"


def routes() -> Iterator[str]:
    """Yield every route that is written with path(), in order."""
    yield from dict.fromkeys(_below(get_resolver().url_patterns, ""))


def patterns_of_regexes() -> Iterator[str]:
    """Yield what is written with re_path(): no example of it can be made by itself."""
    yield from dict.fromkeys(
        text for text in _below(get_resolver().url_patterns, "", regexes=True) if text
    )


def _below(
    patterns: list[URLPattern | URLResolver], before: str, *, regexes: bool = False
) -> Iterator[str]:
    for each in patterns:
        is_route = isinstance(each.pattern, RoutePattern)
        route = before + str(each.pattern)
        if isinstance(each, URLResolver):
            yield from _below(each.url_patterns, route, regexes=regexes)
        elif is_route != regexes:
            yield route


def subjects(site: Site) -> Mapping[str, list[Any]]:
    """Return what the parameters behind a word of a route are, in order, of this site's rows."""
    run = TestRun.objects.filter(site=site).exclude(attempt_number=0).first()
    assert run is not None
    node = Node.objects.filter(site=site).first()
    assert node is not None
    result = TestResult.objects.get(run=run)
    artifact = Artifact.objects.get(attempt__run=run)
    token = ApiToken.objects.filter(name="west").first()
    preset = Preset.objects.first()
    slug, kind = Slugs.MEMORY_STRESS, "cpu-generic"
    return {
        "jobs": [run.job_id],
        "runs": [run.pk, artifact.name],
        "attempts": [run.pk, Attempt.objects.get(run=run).number, artifact.name],
        "results": [result.pk],
        "artifacts": [artifact.pk],
        "nodes": [site.name, node.name],
        "sites": [site.name],
        "cohorts": [kind],
        "tests": [slug, kind],
        "limits": [kind, 1, 1],
        "thresholds": [slug, kind, 1],
        "presets": [preset.name if preset else ""],
        "tokens": [token.prefix if token else ""],
    }


def address(route: str, known: Mapping[str, list[Any]]) -> str:
    """Return the route with rows of a site in place of its parameters."""
    if route.startswith(f"{ADMIN}r/"):
        kind = ContentType.objects.get_for_model(Site)
        return f"/{ADMIN}r/{kind.pk}/{Site.objects.get(name=known['sites'][0]).pk}/"
    if route.startswith(ADMIN):
        return "/" + PARAMETER.sub(lambda _: str(_admin_row(route)), route)
    parts, word, used = [], "", 0
    for part in route.split("/"):
        if PARAMETER.fullmatch(part):
            assert word in known, f"say in SUBJECTS what stands behind {word!r} in {route}"
            part, used = str(known[word][used]), used + 1
        elif part in known:
            word, used = part, 0
        parts.append(part)
    return "/" + "/".join(parts)


def _admin_row(route: str) -> Any:
    """Return the key of the model's newest row, which the stranger's site has made."""
    _, app, model, *_ = route.split("/")
    row = apps.get_model(app, model)._default_manager.order_by("pk").last()
    return row.pk if row is not None else 0
