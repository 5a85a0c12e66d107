"""What nodes of a class must pass: the steps of the preset that accepts it."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from burnin.hardware_tests.params import BadParams, parse_params
from burnin.hardware_tests.registry import UnknownSlug, get_test_class
from burnin.hardware_tests.site_params import SiteLacks, filled_in, with_examples
from burnin.hardware_tests.workload import Workload
from burnin.models.acceptance import Acceptance
from fleet.hardware import Hardware
from fleet.models import HardwareUnstated, Node, Site, stated_hardware

Place = tuple[int, int]  # resource class and site


@dataclass(frozen=True)
class Required:
    """What a node must pass, by test.

    `lacking` says of which tests it cannot: their site does not set what they need, or nobody says
    what nodes of its class are made of.
    """

    workloads: Mapping[str, Sequence[Workload]] = field(default_factory=dict)
    lacking: Mapping[str, str] = field(default_factory=dict)

    @property
    def slugs(self) -> list[str]:
        return sorted({*self.workloads, *self.lacking})


def required_of(nodes: Sequence[Node]) -> dict[Place, Required]:
    """Return what nodes of each class at each site must pass, in two queries.

    No test that they are not fit for. What is only measured proves nothing. Of two steps of which
    one asks for all that the other does, the greater is required.
    """
    places = {(node.resource_class_id, node.site_id) for node in nodes}
    sites = Site.objects.only("name", "shared_storage").in_bulk({site for _, site in places})
    rows = Acceptance.objects.filter(resource_class__in={kind for kind, _ in places})
    steps: dict[int, list[Any]] = defaultdict(list)
    for kind, *step in rows.filter(preset__steps__measure_only=False).values_list(
        "resource_class_id",
        "resource_class__name",
        "resource_class__gpus_per_node",
        "resource_class__gpu_maker",
        "resource_class__parts",
        "preset__steps__slug",
        "preset__steps__params",
        "preset__steps__iterations",
        "preset__steps__only_if_site_sets",
    ):
        steps[kind].append(step)
    return {(kind, site): _at(steps[kind], sites[site]) for kind, site in places}


def _at(steps: Iterable[Sequence[Any]], site: Site) -> Required:
    workloads: dict[str, list[Workload]] = {}
    lacking: dict[str, str] = {}
    for *columns, slug, params, iterations, only_if_site_sets in steps:
        try:
            hardware = stated_hardware(*columns)
        except HardwareUnstated as words:
            lacking[slug] = str(words)
            continue
        if _asked(slug, json.dumps(with_examples(params)), iterations, hardware) is None:
            continue
        try:
            told = json.dumps(filled_in(params, site))
        except SiteLacks as words:
            lacking |= {} if only_if_site_sets else {slug: str(words)}
            continue
        if asked := _asked(slug, told, iterations, hardware):
            workloads[slug] = _with(workloads.get(slug, []), asked)
    return Required(workloads, lacking)


def _with(known: Sequence[Workload], asked: Workload) -> list[Workload]:
    if any(each.meets(asked) for each in known):
        return list(known)
    return [*(each for each in known if not asked.meets(each)), asked]


@lru_cache(maxsize=4096)  # steps of presets times classes and sites: some hundreds
def _asked(slug: str, params: str, iterations: int, hardware: Hardware) -> Workload | None:
    """Return what a step asks of such nodes; None: nothing."""
    try:
        test = get_test_class(slug)
        fitting = test.params_on(parse_params(test, params), hardware)
    except (UnknownSlug, BadParams):
        # Nobody can pass it any more, and an operator shall see that.
        return Workload(slug, json.loads(params), iterations)
    return None if fitting is None else Workload(slug, fitting.resolved(), iterations)
