"""node-health.json as a whole: what each check that was asked for found, or why it could not."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from burnin.hardware_tests.artifacts import ArtifactCollector
from burnin.hardware_tests.evaluation import NotMeasured
from burnin.hardware_tests.metrics import clip_detail, shown
from burnin.hardware_tests.parsers.refusal import ParseError
from burnin.hardware_tests.single_node.health.catalogue import CHECKS
from burnin.hardware_tests.single_node.health.gpus import ASKED_OF_SMI
from burnin.hardware_tests.single_node.health.params import NodeHealthParams
from burnin.hardware_tests.single_node.health.section import Found, Hung, Section, listed


@dataclass
class Findings:
    """Values and details by metric, and a sentence for each check that could not be read."""

    values: dict[str, float] = field(default_factory=dict)
    details: dict[str, str] = field(default_factory=dict)
    unread: list[str] = field(default_factory=list)

    def add(self, metric: str, found: Found) -> None:
        self.values[metric], detail = found
        if detail:
            self.details[metric] = clip_detail(detail)

    def told(self, metric: str) -> str:
        """Return what a component is compared by: its words, or its number where it has none."""
        return self.details.get(metric) or shown(self.values[metric])


def read_report(artifact_collector: ArtifactCollector, asked: NodeHealthParams) -> Findings:
    """Read each check that was asked for. Raises MissingArtifact if there is no report."""
    text = artifact_collector.get_custom_file("node-health.json").read_text()
    report, findings = _Report(json.loads(text), artifact_collector, asked), Findings()
    for check in asked.checks:
        try:
            findings.add(CHECKS[check].metric, report.read(check))
        except NotMeasured as why:
            findings.unread.append(str(why))
            # A hang in NVIDIA's driver is the fault of it or of a GPU, whatever was asked for.
            if isinstance(why, Hung) and CHECKS[check].section in ASKED_OF_SMI:
                findings.add("smi_responds", (0, str(why)))
    _compare(findings, asked)
    return findings


def _compare(findings: Findings, asked: NodeHealthParams) -> None:
    """Hold what was told against what is golden. What could not be read stands among the unread."""
    try:
        expected = asked.expected
    except ValueError as why:
        raise NotMeasured(f"{why}: which is this node's is not known") from None
    told = {check: findings.told(check) for check in expected if check in findings.values}
    unlike = [
        f"{check}: {words}, expected {expected[check]}"
        for check, words in told.items()
        if words != expected[check]
    ]
    if told:
        findings.add("unexpected_components", listed(unlike))


class _Unread(Exception):
    """The node says nothing of the section."""


@dataclass(frozen=True)
class _Report:
    found: Any
    artifacts: ArtifactCollector
    asked: NodeHealthParams
    _sections: dict[str, Section] = field(default_factory=dict)

    def read(self, check: str) -> Found:
        """Return what a check found. Raises NotMeasured, naming the check."""
        try:
            return CHECKS[check].read(self._section(check))
        except _Unread as why:
            raise NotMeasured(f"the check {check} {why}") from None
        except Hung as why:
            raise Hung(f"the check {check} cannot be used: {why}") from None
        except (NotMeasured, ParseError) as why:
            raise NotMeasured(f"the check {check} cannot be used: {why}") from None
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(str(step) for step in first["loc"]) or CHECKS[check].section
            raise NotMeasured(
                f"the check {check} cannot be used: {where} in node-health.json: {first['msg']}"
            ) from None

    def _section(self, check: str) -> Section:
        name = CHECKS[check].section
        found = self.found.get(name) if isinstance(self.found, dict) else None
        if found is None:
            raise _Unread("was asked for, but node-health.json lacks it")
        if isinstance(found, dict) and found.get("error"):
            raise _Unread(f"could not be read: {found['error']}")
        return self._sections.setdefault(name, Section(name, found, self.artifacts, self.asked))
