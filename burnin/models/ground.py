"""What a node's standing rests on, and whether it is enough: one answer for whoever asks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache

from django.conf import settings

from burnin.evidence import Evidence, Identity, Operation, Shown, Standing, weigh
from burnin.hardware_tests.stale_operations import load_stale_operations
from burnin.hardware_tests.workload import Workload, is_met
from burnin.models.latest import LatestResult
from burnin.models.required import Required, required_of
from burnin.models.trouble import Trouble
from burnin.states import Verdict
from fleet.models import HardwareOperation, Node
from runner.contract.slugs import all_slugs

ALL_SLUGS = frozenset(all_slugs())
NOTHING_SHOWN = Evidence(Standing.MISSING, "the test has never come to a conclusion on this node")


@dataclass(frozen=True)
class Proof:
    """The result that a test's standing on a node is told by, and whether it counts.

    `is_answered`: what the test looks at was worked on since it began, or it is other hardware.
    """

    evidence: Evidence
    latest: LatestResult | None = None
    is_answered: bool = False

    @property
    def is_good(self) -> bool:
        return self.evidence.counts and self.latest is not None and self.latest.passed

    @property
    def is_failure(self) -> bool:
        """Say whether it failed and stands: neither time nor work on another part answers it."""
        failed = self.latest is not None and self.latest.verdict == Verdict.FAILED
        return failed and not self.is_answered


@dataclass(frozen=True)
class Ground:
    """What a node's standing rests on. Nothing is required where no preset accepts its class.

    `results` are by test, the newest first.
    """

    node: Node
    required: Required
    results: Mapping[str, Sequence[LatestResult]]
    troubles: Sequence[Trouble]
    operations: Sequence[Operation]

    def proof(self, slug: str, now: datetime) -> Proof:
        """Return what is worst of a test: a failure, else what is required and not shown.

        A test that is not required is told by its newest result.
        """
        proofs = [self._weighed(each, now) for each in self.results.get(slug, ())]
        if failure := next((each for each in proofs if each.is_failure), None):
            return failure
        newest = proofs[0].latest if proofs else None
        if lacking := self.required.lacking.get(slug):
            return Proof(Evidence(Standing.UNMET, lacking), newest)
        asked = self.required.workloads.get(slug, ())
        if not proofs:
            return Proof(NOTHING_SHOWN)
        if not asked or not _passed(proofs[0]):
            return proofs[0]
        return min((_newest_that_meets(each, proofs) for each in asked), key=_strength)

    def _weighed(self, newest: LatestResult, now: datetime) -> Proof:
        evidence = weigh(
            _shown(newest),
            inventory=Identity(
                self.node.dmi_serial, self.node.machine_id, tuple(self.node.gpu_uuids)
            ),
            operations=self.operations,
            lives_for=evidence_lives_for(),
            now=now,
        )
        was_worked_on = any(
            each.performed_at >= newest.started_at and newest.slug in each.stales
            for each in self.operations
        )
        return Proof(evidence, newest, was_worked_on or evidence.standing is Standing.STALE)


def _passed(proof: Proof) -> bool:
    return proof.latest is not None and proof.latest.passed


def _newest_that_meets(asked: Workload, proofs: Sequence[Proof]) -> Proof:
    for each in proofs:
        if each.latest is not None and each.latest.passed and is_met(asked, each.latest.workload):
            return each
    return Proof(Evidence(Standing.UNMET, _shortfall(asked, proofs[0])), proofs[0].latest)


def _shortfall(asked: Workload, newest: Proof) -> str:
    did = newest.latest.workload if newest.latest else None
    if did is None:
        return "it passed before it was kept what a run was asked to do: run it again"
    return f"it passed, but its class asks for more: {did.shortfall(asked)}"


def _strength(proof: Proof) -> tuple[bool, datetime]:
    """Order by what is least: what does not count, then what ends first."""
    assert proof.latest is not None
    return proof.evidence.counts, proof.latest.shown_at


def evidence_lives_for() -> timedelta:
    return timedelta(days=settings.EVIDENCE_DAYS)


def grounds_of(nodes: Sequence[Node]) -> dict[int, Ground]:
    """Return what each node's standing rests on, with as many queries for one as for many."""
    ids = [node.pk for node in nodes]
    required = required_of(nodes)
    results: dict[int, dict[str, list[LatestResult]]] = defaultdict(lambda: defaultdict(list))
    for row in LatestResult.objects.filter(node__in=ids).order_by("-started_at", "-pk"):
        results[row.node_id][row.slug].append(row)
    troubles: dict[int, list[Trouble]] = defaultdict(list)
    for trouble in Trouble.objects.filter(node__in=ids).order_by("-began_at"):
        troubles[trouble.node_id].append(trouble)
    operations = _operations(ids)
    return {
        node.pk: Ground(
            node,
            required[node.resource_class_id, node.site_id],
            results[node.pk],
            troubles[node.pk],
            operations[node.pk],
        )
        for node in nodes
    }


def _operations(node_ids: Sequence[int]) -> dict[int, list[Operation]]:
    spoils = _spoils()
    found: dict[int, list[Operation]] = defaultdict(list)
    rows = HardwareOperation.objects.filter(node__in=node_ids).order_by("performed_at")
    for node_id, name, at in rows.values_list("node_id", "operation", "performed_at"):
        # One that the file no longer knows spoils everything: it did once, of what is not known.
        found[node_id].append(Operation(name, at, spoils.get(name, ALL_SLUGS)))
    return found


@cache
def _spoils() -> Mapping[str, frozenset[str]]:
    return {name: frozenset(each.stales) for name, each in load_stale_operations().items()}


def _shown(newest: LatestResult) -> Shown:
    said = newest.identity
    return Shown(
        slug=newest.slug,
        started_at=newest.started_at,
        finished_at=newest.shown_at,
        identity=Identity(
            said.get("dmi_serial") or "",
            said.get("machine_id") or "",
            tuple(said.get("gpu_uuids") or ()),
        ),
    )
