"""The form by which an admin edits limits: what each metric must be, whence, and why it changes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.http import QueryDict

from burnin.dashboards.limits_line import CONFIDENCES, Line, about_words, line_of, posted_line
from burnin.hardware_tests.base import BaseTest
from burnin.hardware_tests.metrics import MetricDeclaration
from burnin.hardware_tests.thresholds.errors import BadThresholds, NoThresholds
from burnin.hardware_tests.thresholds.loader import load_stated
from burnin.models import ThresholdVersion
from fleet.models import ResourceClass

EDIT = "the edit"
NO_VERSION = -1  # whatever was in force, the editor did not see it
FEW = 6  # so many metrics are read at a glance; of more, each is opened by whoever looks for it


@dataclass(frozen=True)
class Fault:
    """One field that has to be mended: its id on the page, its metric, and what is wrong."""

    ident: str
    label: str
    sentence: str


@dataclass
class LimitsForm:
    """Every metric of the test that may have a limit, over the version in force."""

    test: type[BaseTest]
    kept: ResourceClass
    in_force: ThresholdVersion | None
    posted: QueryDict | None = None
    lines: list[Line] = field(init=False)
    reason: str = field(init=False, default="")
    reason_error: str = field(init=False, default="")
    refusal: str = field(init=False, default="")

    def __post_init__(self) -> None:
        declared = self.test.metrics_class.declarations().values()
        gated = [each for each in declared if self._may_be_limited(each)]
        if self.posted is None:
            self.lines = [line_of(each, self._kept.get(each.name, {})) for each in gated]
        else:
            self.lines = [
                posted_line(each, self.posted, self._kept.get(each.name, {})) for each in gated
            ]
            self.reason = self.posted.get("reason", "").strip()

    @property
    def based_on(self) -> int:
        return int(self.seen) if self.seen.isdecimal() and len(self.seen) < 10 else NO_VERSION

    @property
    def seen(self) -> str:
        """The version that the editor looks at, as the form carries it along."""
        if self.posted is not None:
            return str(self.posted.get("based_on", "")) or "0"
        return str(self.in_force.number) if self.in_force else "0"

    @property
    def is_overtaken(self) -> bool:
        """Another version has come into force since the editor opened the form."""
        return self.based_on != (self.in_force.number if self.in_force else 0)

    @property
    def is_long(self) -> bool:
        return len(self.lines) > FEW

    @property
    def changes(self) -> dict[str, dict[str, Any]]:
        """Return the metrics of which the form says other than the version in force."""
        said = {line.name: line.stated() for line in self.lines}
        return {name: each for name, each in said.items() if each != self._kept.get(name, {})}

    @property
    def faults(self) -> list[Fault]:
        """Return every field that has to be mended, in the order of the page."""
        found = [
            Fault(f"{line.name}-{name}", line.declared.label, sentence)
            for line in self.lines
            for name, sentence in line.errors.items()
        ]
        return [*found, Fault("reason", "Why", self.reason_error)] if self.reason_error else found

    def is_valid(self) -> bool:
        """Say whether this can become a version; what cannot be meant is told beside its field."""
        self.reason_error = about_words(
            self.reason, if_none="Say why it changes: the reason stays with the version."
        )
        if not self.changes:
            self.refuse("nothing was changed: every field says what is in force")
        for line in self.lines:
            if line.name in self.changes or line.name not in self._kept:
                line.errors = line.complaints() or self._by_the_rules(line)
        return not (self.faults or self.refusal)

    def refuse(self, sentence: str) -> None:
        self.refusal = sentence

    @property
    def confidences(self) -> tuple[tuple[str, str], ...]:
        return (("", "Choose"), *CONFIDENCES)

    @property
    def _kept(self) -> Mapping[str, dict[str, Any]]:
        return self.in_force.bounds if self.in_force else {}

    def _may_be_limited(self, declared: MetricDeclaration) -> bool:
        gates = self.test.thresholds_class.gates(declared.name)
        return bool(declared.better) and gates and not declared.gate_reason

    def _by_the_rules(self, line: Line) -> dict[str, str]:
        """Return what the rules of every limit find in one line, whatever the others say."""
        whole = {**(self._kept or self.changes), line.name: line.stated()}
        try:
            load_stated(self.test, self.kept.name, whole, version=EDIT)
        except (NoThresholds, BadThresholds) as error:
            sentence = str(error).removeprefix(f"{EDIT} of {self.test.slug} on {self.kept.name}: ")
            sentence = sentence.removeprefix(f"{self.test.slug}: ")
            names_it = re.compile(rf"\b{line.name}\b")
            if names_it.search(sentence):
                return {"value": names_it.sub(lambda _: line.declared.label, sentence)}
        return {}
