"""The three kinds of hardware test. A class that is only half a test cannot be made."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

from burnin.hardware_tests.artifacts import ArtifactCollector
from burnin.hardware_tests.batch import SlurmBatchConfig
from burnin.hardware_tests.evaluation import (
    EvaluationResult,
    IterationSummary,
    NotMeasured,
    conclude_iterations,
    errored,
    evaluate_metrics,
    refuse_untrustworthy,
)
from burnin.hardware_tests.fingerprint import digest_of, fingerprint_of
from burnin.hardware_tests.metrics import BaseMetrics, PairwiseNetworkMetrics
from burnin.hardware_tests.params import BadParams, TestParams, parse_params
from burnin.hardware_tests.resource_classes import HARDWARE, why_unfit
from burnin.hardware_tests.run_context import RunContext
from burnin.hardware_tests.thresholds.errors import NoThresholds
from burnin.hardware_tests.thresholds.loader import THRESHOLDS_YAML, known_resource_classes, load
from burnin.hardware_tests.thresholds.schema import Thresholds, ThresholdSet
from burnin.hardware_tests.worker_limits import WORKER_LIMITS
from fleet.hardware import Hardware

SLUG = re.compile(r"(single-node|multi-node|pairwise)\.[a-z0-9]+(-[a-z0-9]+)*")


class BaseTest(ABC):
    """What it measures, what may be turned, what is shown, what is acceptable, how to read it.

    `fixed_knobs`, `recipe_version` and the versions of `fingerprint_tools` are what a threshold is
    calibrated against: change the recipe, raise its version. A test with `gpu_makers` runs on
    classes with such GPUs only. `container` names an image of the site; without one the tool comes
    from PATH. `takes_s` is about how long one iteration takes beside what `duration_s` asks for.
    A tool that says nothing for `silent_for_s` has hung; None if it says nothing before its end.
    """

    slug: ClassVar[str]
    display_name: ClassVar[str]
    params_class: ClassVar[type[TestParams]]
    metrics_class: ClassVar[type[BaseMetrics]]
    thresholds_class: ClassVar[type[Thresholds]]
    recipe_version: ClassVar[int] = 1
    fixed_knobs: ClassVar[Mapping[str, str | int | float]] = MappingProxyType({})
    fingerprint_tools: ClassVar[tuple[str, ...]] = ()
    gpu_makers: ClassVar[frozenset[str]] = frozenset()
    container: ClassVar[str] = ""
    takes_s: ClassVar[int] = 0
    silent_for_s: ClassVar[float | None] = None
    stage: ClassVar[str] = ""
    is_abstract: ClassVar[bool] = True

    def __init_subclass__(cls, *, abstract: bool = False, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.is_abstract = abstract
        if "evaluate" in cls.__dict__:
            cls.evaluate = _never_raising(cls.__dict__["evaluate"])  # type: ignore[method-assign]
        if not abstract:
            _refuse_half_a_test(cls)

    @abstractmethod
    def make_batch_config(self, context: RunContext) -> SlurmBatchConfig:
        """Return what Slurm is asked for. Pure."""

    @abstractmethod
    def extract_metrics(self, artifact_collector: ArtifactCollector) -> BaseMetrics:
        """Read the artifacts. Pure; raises on whatever is missing, malformed or contradictory."""

    def measure(self, artifact_collector: ArtifactCollector) -> BaseMetrics:
        """Extract the metrics and stamp them with their fingerprint and node count."""
        metrics = self.extract_metrics(artifact_collector)
        tools = self.tool_versions(artifact_collector)
        metadata = artifact_collector.metadata
        num_nodes = len(metadata.node_names)
        stamp = fingerprint_of(
            self,
            tools=tools,
            num_nodes=num_nodes,
            container_digest=digest_of(metadata.container),
            fabric=metrics.fabric,
        )
        return metrics.model_copy(update={"fingerprint": stamp, "num_nodes": num_nodes})

    def tool_versions(self, artifact_collector: ArtifactCollector) -> Mapping[str, str]:
        """Return versions by the names of `fingerprint_tools`: those that the node asked for.

        A tool in a container cannot be asked from outside; its report may say what it was.
        """
        return artifact_collector.metadata.tools

    @classmethod
    def timed_phases(cls, params: Mapping[str, Any]) -> int:
        """Return how many phases of an iteration, at least, take `duration_s` one after another."""
        return 1

    @classmethod
    def expected_duration_s(cls, params: Mapping[str, Any]) -> int:
        """Return about how many seconds one iteration takes with these params."""
        return cls.takes_s + cls.timed_phases(params) * int(params.get("duration_s", 0))

    @classmethod
    def metrics_asked(cls, params: TestParams) -> frozenset[str]:
        """Return the metrics that a run with these params may have."""
        return frozenset(cls.metrics_class.declarations())

    @classmethod
    def params_on(cls, params: TestParams, hardware: Hardware) -> TestParams | None:
        """Return what a preset with these params asks of such nodes; None: nothing."""
        return None if why_unfit(cls.gpu_makers, hardware) else params

    @classmethod
    def evaluate(
        cls,
        metrics: BaseMetrics,
        thresholds: ThresholdSet,
        iteration_summary: IterationSummary | None = None,
        resolved_params: Mapping[str, Any] | None = None,
    ) -> EvaluationResult:
        """Gate each threshold on the metric of the same name. Never raises: a defect is errored.

        Override it for a policy only. The override is guarded in the same way.
        """
        if not isinstance(metrics, cls.metrics_class):
            raise NotMeasured(f"{cls.slug} cannot judge a {type(metrics).__name__}")
        if thresholds.slug != cls.slug:
            raise NotMeasured(f"the thresholds are those of {thresholds.slug}, not of {cls.slug}")
        if resolved_params is not None:
            parse_params(cls, resolved_params)
        return evaluate_metrics(metrics, thresholds)

    @classmethod
    def load_thresholds(cls, resource_class: str, path: Path = THRESHOLDS_YAML) -> ThresholdSet:
        """Return this test's bounds on a shipped class. Raises NoThresholds or BadThresholds."""
        if hardware := HARDWARE.get(resource_class):
            cls.refuse_unfit(hardware)
        return load(cls, resource_class, path=path)

    @classmethod
    def container_on(cls, hardware: Hardware) -> str:
        """Return the name by which a site knows the image for such nodes; "" for none."""
        return cls.container

    @classmethod
    def refuse_unfit(cls, hardware: Hardware) -> None:
        """Raise NoThresholds where nodes do not have what the test needs."""
        if why := why_unfit(cls.gpu_makers, hardware):
            raise NoThresholds(f"{cls.slug} {why}: choose other nodes, or leave the test out")

    @classmethod
    def resource_classes(cls, path: Path = THRESHOLDS_YAML) -> tuple[str, ...]:
        """Return the classes in the file whose nodes the test is for. Raises BadThresholds."""
        known = [HARDWARE[each] for each in known_resource_classes(path) if each in HARDWARE]
        return tuple(each.resource_class for each in known if not why_unfit(cls.gpu_makers, each))


def _never_raising(evaluate: Any) -> Any:
    inner: Callable[..., Any] = evaluate.__func__ if isinstance(evaluate, classmethod) else evaluate

    @wraps(inner)
    def guarded(
        cls: type[BaseTest],
        metrics: BaseMetrics,
        thresholds: ThresholdSet,
        iteration_summary: IterationSummary | None = None,
        resolved_params: Mapping[str, Any] | None = None,
    ) -> EvaluationResult:
        try:
            result = inner(cls, metrics, thresholds, iteration_summary, resolved_params)
            return _trusted(result, metrics, thresholds, iteration_summary)
        except (NotMeasured, BadParams) as reason:
            return errored(str(reason))
        except WORKER_LIMITS:
            raise  # not the test's: the worker that judges has come to its own end
        # The edge between a test's own code and a verdict: whatever escapes must not pass.
        except Exception as defect:
            return errored(f"a defect in {cls.slug}.evaluate: {type(defect).__name__}: {defect}")

    return classmethod(guarded)


def _trusted(
    result: object,
    metrics: BaseMetrics,
    thresholds: ThresholdSet,
    iteration_summary: IterationSummary | None,
) -> EvaluationResult:
    """Return the result unless it passes what no policy may pass."""
    if not isinstance(result, EvaluationResult):
        raise NotMeasured(f"a defect in evaluate: it gave a {type(result).__name__}")
    if not result.passed:
        return result
    refuse_untrustworthy(metrics, thresholds)
    return conclude_iterations(result, iteration_summary)


BaseTest.evaluate = _never_raising(BaseTest.__dict__["evaluate"])  # type: ignore[method-assign]


class SingleNodeTest(BaseTest, abstract=True):
    """One Slurm job per node."""

    stage = "single-node"


class MultiNodeTest(BaseTest, abstract=True):
    """One Slurm job for the whole cohort."""

    stage = "multi-node"


class PairwiseNetworkTestBase(BaseTest, abstract=True):
    """Many pairs across a cohort, with metrics of every pair."""

    stage = "pairwise"

    def measure(self, artifact_collector: ArtifactCollector) -> BaseMetrics:
        """Extract and stamp the metrics. Raises NotMeasured for pairs of nodes of no such run."""
        metrics = super().measure(artifact_collector)
        if isinstance(metrics, PairwiseNetworkMetrics):
            _refuse_odd_pairs(metrics, artifact_collector.metadata.node_names)
        return metrics


def _refuse_odd_pairs(metrics: PairwiseNetworkMetrics, node_names: Sequence[str]) -> None:
    """Raise NotMeasured unless each pair is of this run's nodes, there once, and in both ways."""
    rows = [(each.source, each.target, each.metric, each.link) for each in metrics.pairs]
    for source, target, name, link in rows:
        if source == target or not {source, target} <= set(node_names):
            raise NotMeasured(f"{source}→{target} is no pair of {', '.join(node_names)}")
        if name not in metrics.declarations():
            raise NotMeasured(f"the pair {source}→{target} has a {name}, which is no metric")
        if (target, source, name, link) not in rows:
            raise NotMeasured(f"{name} is there for {source}→{target}, and not for the way back")
    if len(set(rows)) != len(rows):
        raise NotMeasured("a pair has one metric twice")


class HalfATest(TypeError):
    """A test class lacks a piece. The message names the piece and where it goes."""


_PIECES = {
    "slug": str,
    "display_name": str,
    "params_class": TestParams,
    "metrics_class": BaseMetrics,
    "thresholds_class": Thresholds,
}


def _refuse_half_a_test(cls: type[BaseTest]) -> None:
    for name, kind in _PIECES.items():
        _refuse_missing_piece(cls, name, kind)
    if not SLUG.fullmatch(cls.slug) or not cls.slug.startswith(f"{cls.stage}."):
        raise HalfATest(
            f"{cls.__name__} is a {cls.stage or 'BaseTest'} test, so its slug must read "
            f"'{cls.stage or '<stage>'}.<words-with-dashes>', not {cls.slug!r}"
        )
    if missing := sorted(getattr(cls, "__abstractmethods__", None) or _unwritten(cls)):
        raise HalfATest(f"{cls.__name__} lacks {', '.join(missing)}()")
    if cls.stage == "pairwise" and not issubclass(cls.metrics_class, PairwiseNetworkMetrics):
        raise HalfATest(f"{cls.__name__}.metrics_class must be a PairwiseNetworkMetrics")
    _refuse_ungated_directions(cls)
    _refuse_limits_without_direction(cls)


def _refuse_missing_piece(cls: type[BaseTest], name: str, kind: type) -> None:
    piece = getattr(cls, name, None)
    fits = isinstance(piece, str) if kind is str else _is_subclass(piece, kind)
    if not fits or not piece:
        raise HalfATest(f"{cls.__name__} lacks {name}: give it a {kind.__name__}")


def _is_subclass(piece: object, kind: type) -> bool:
    return isinstance(piece, type) and issubclass(piece, kind)


def _unwritten(cls: type[BaseTest]) -> list[str]:
    # ABCMeta fills __abstractmethods__ only after __init_subclass__ has run.
    methods = ("make_batch_config", "extract_metrics")
    return [name for name in methods if getattr(getattr(cls, name), "__isabstractmethod__", False)]


def _refuse_ungated_directions(cls: type[BaseTest]) -> None:
    for name, declared in cls.metrics_class.declarations().items():
        if declared.better and not declared.gate_reason and not cls.thresholds_class.gates(name):
            raise HalfATest(
                f"{cls.metrics_class.__name__}.{name} has a direction but "
                f"{cls.thresholds_class.__name__} no limit for it: add one, or say why not "
                "with metric(…, gate_reason=…)"
            )


def _refuse_limits_without_direction(cls: type[BaseTest]) -> None:
    declared = cls.metrics_class.declarations()
    for name in cls.thresholds_class.model_fields:
        if name not in declared or declared[name].better is None:
            raise HalfATest(
                f"{cls.thresholds_class.__name__}.{name} limits no metric with a direction: "
                f"{cls.metrics_class.__name__}.{name} must say better=…"
            )
