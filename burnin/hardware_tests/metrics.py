"""What a test measured: values with a unit, a direction and a human name, in operator order.

GB/s is bytes and Gb/s is bits. A metric's name carries no unit: the declaration does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from types import MappingProxyType
from typing import Any, ClassVar, TypeAlias, get_args

from pydantic import BaseModel, ConfigDict, Field, JsonValue, field_validator

MAX_DETAIL_BYTES = 2048

MetricValue: TypeAlias = float | None
"""An opt-in metric. Its extractor says None, in so many words, when it was not asked for."""


FabricFact: TypeAlias = bool | float | str
"""What is known of the network that was measured: whether something is on, a rate, or a name."""


class MetricUnit(StrEnum):
    """The text is what an operator reads behind the value."""

    COUNT = ""
    RATIO = "x"
    PERCENT = "%"
    SECONDS = "s"
    MILLISECONDS = "ms"
    MICROSECONDS = "µs"
    GIB = "GiB"
    GB_S = "GB/s"  # gigabytes a second: memory, storage, bus
    GBPS = "Gb/s"  # gigabits a second: network
    TFLOPS = "TFLOPS"
    GFLOPS = "GFLOPS"
    IOPS = "IOPS"
    PER_SECOND = "/s"
    CELSIUS = "°C"
    WATTS = "W"
    MHZ = "MHz"


class Better(StrEnum):
    """The direction in which a value is good. EXACT: only the bound itself is."""

    HIGHER = "higher"
    LOWER = "lower"
    EXACT = "exact"


@dataclass(frozen=True)
class MetricDeclaration:
    """What `metric()` said. `plausible` bounds its thresholds, in the metric's unit."""

    name: str
    unit: MetricUnit
    better: Better | None
    label: str
    api_visible: bool
    gate_reason: str
    plausible: tuple[float, float] | None


@dataclass(frozen=True)
class Reading:
    """One metric as measured. `value` is whatever stands there: the gate checks it."""

    metric: str
    value: object
    unit: MetricUnit
    label: str
    detail: str


def metric(
    unit: MetricUnit,
    *,
    label: str,
    better: Better | None = None,
    api_visible: bool = True,
    gate_reason: str = "",
    plausible: tuple[float, float] | None = None,
) -> Any:
    """Declare a metric.

    A metric with a direction has a field in the test's thresholds class, or `gate_reason` says
    why none decides. `plausible` is the (lowest, highest) threshold that is not a unit slip.
    """
    declared: dict[str, JsonValue] = {
        "unit": unit.value,
        "better": better.value if better else None,
        "label": label,
        "api_visible": api_visible,
        "gate_reason": gate_reason,
        "plausible": list(plausible) if plausible else None,
    }
    return Field(json_schema_extra={"metric": declared})


@cache
def _declarations(cls: type[BaseMetrics]) -> Mapping[str, MetricDeclaration]:
    """Read a class once: a catalogue that is loaded asks for each of its limits."""
    names = [name for name in cls.model_fields if name not in cls._BESIDE]
    return MappingProxyType({name: _declaration(cls, name) for name in names})


class BaseMetrics(BaseModel):
    """What one run measured. NaN, infinities, missing fields and wrong types are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)
    _BESIDE: ClassVar[frozenset[str]] = frozenset(
        {"details", "fingerprint", "num_nodes", "fabric", "pairs"}
    )

    details: dict[str, str] = Field(
        default_factory=dict, description="By metric: what and where, at most 2 KB each."
    )
    fingerprint: str | None = Field(
        default=None, description="Of everything a threshold is calibrated against."
    )
    num_nodes: int | None = Field(default=None, description="How many nodes took part.")
    fabric: dict[str, FabricFact] = Field(
        default_factory=dict, description="What is known of the network; what is unknown is absent."
    )

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        for declaration in cls.declarations().values():
            _refuse_bad_declaration(cls.__name__, declaration)

    @classmethod
    def declarations(cls) -> Mapping[str, MetricDeclaration]:
        """Return every metric of this class by name, in the order they are declared."""
        return _declarations(cls)

    @classmethod
    def is_opt_in(cls, name: str) -> bool:
        """Say whether the metric may be None: then nobody asked for it."""
        return type(None) in get_args(cls.model_fields[name].annotation)

    def reading(self, name: str) -> Reading:
        """Return one metric with its unit, label and detail. Raises KeyError if undeclared."""
        declared = self.declarations()[name]
        return Reading(
            metric=name,
            value=getattr(self, name, None),
            unit=declared.unit,
            label=declared.label,
            detail=self.details.get(name, ""),
        )

    def to_metrics_response(self) -> list[dict[str, JsonValue]]:
        """Return what an operator sees, in declared order. What was not asked for is left out."""
        visible = [each for each in self.declarations().values() if each.api_visible]
        shown = [each for each in visible if getattr(self, each.name) is not None]
        return [
            {
                "name": each.name,
                "label": each.label,
                "value": getattr(self, each.name),
                "unit": each.unit.value,
                "better": each.better.value if each.better else None,
                "detail": self.details.get(each.name, ""),
            }
            for each in shown
        ]

    @field_validator("details")
    @classmethod
    def _details_belong_to_metrics(cls, details: dict[str, str]) -> dict[str, str]:
        for name, text in details.items():
            if name not in cls.declarations():
                raise ValueError(f"a detail names {name!r}, which is no metric of {cls.__name__}")
            if len(text.encode()) > MAX_DETAIL_BYTES:
                raise ValueError(f"the detail of {name} is longer than {MAX_DETAIL_BYTES} bytes")
        return details


class PairMetric(BaseModel):
    """One metric of one ordered pair of nodes, over one link between them if it names one."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    source: str = Field(min_length=1, description="Slurm node name.")
    target: str = Field(min_length=1, description="Slurm node name.")
    metric: str
    value: float
    link: str = Field(default="", max_length=63, description="Like mlx5_0:1.")


class PairwiseNetworkMetrics(BaseMetrics):
    """The summary over all pairs, and a row per pair and direction."""

    pairs: tuple[PairMetric, ...] = Field(min_length=1)


def clip_detail(text: str) -> str:
    """Return the text, cut to what a detail may hold."""
    raw = text.encode()
    if len(raw) <= MAX_DETAIL_BYTES:
        return text
    return raw[: MAX_DETAIL_BYTES - 4].decode(errors="ignore") + "…"


_UNITS = """
    s sec secs seconds ms msec milliseconds us usec microseconds ns nsec minutes hours
    b bytes kb mb gb tb kib mib gib tib bits kbps mbps gbps tbps bps gbs mbs
    percent pct hz khz mhz ghz flops gflops tflops iops celsius degc watts kw volts
"""


def shown(value: object) -> str:
    """Return a value as a person reads it: four digits, or all of a large number."""
    if not isinstance(value, float) or value.is_integer():
        return f"{value:.0f}" if isinstance(value, float) else f"{value}"
    return f"{value:.0f}" if abs(value) >= 10_000 else f"{value:.4g}"


_NAMED_FIRST = ("network", "rate")


def fabric_words(fabric: Mapping[str, FabricFact]) -> str:
    """Return the facts as a person reads them: network IB, rate 3200, without nvls.

    In one order, whatever that of the mapping: PostgreSQL keeps none.
    """
    said = []
    for name in sorted(fabric, key=lambda name: (name not in _NAMED_FIRST, name)):
        fact = fabric[name]
        if isinstance(fact, bool):
            said.append(f"with {name}" if fact else f"without {name}")
        else:
            said.append(f"{name} {shown(fact)}")
    return ", ".join(said)


_UNIT_WORDS = frozenset(_UNITS.split())


def _declaration(cls: type[BaseMetrics], name: str) -> MetricDeclaration:
    extra = cls.model_fields[name].json_schema_extra
    if not isinstance(extra, dict) or not isinstance(declared := extra.get("metric"), dict):
        raise TypeError(f"{cls.__name__}.{name} is not declared with metric(unit, label=…)")
    plausible: Any = declared["plausible"]
    return MetricDeclaration(
        name=name,
        unit=MetricUnit(str(declared["unit"])),
        better=Better(str(declared["better"])) if declared["better"] else None,
        label=str(declared["label"]),
        api_visible=bool(declared["api_visible"]),
        gate_reason=str(declared["gate_reason"]),
        plausible=(float(plausible[0]), float(plausible[1])) if plausible else None,
    )


def _refuse_bad_declaration(owner: str, declared: MetricDeclaration) -> None:
    where = f"{owner}.{declared.name}"
    if unit_words := sorted(set(declared.name.split("_")) & _UNIT_WORDS):
        raise TypeError(
            f"{where} has a unit in its name ({', '.join(unit_words)}): "
            f"leave it out, metric({declared.unit.name}, …) says it"
        )
    if not declared.label.strip():
        raise TypeError(f"{where} has no label: say what an operator should read")
    if declared.plausible:
        _refuse_wide_window(where, declared.plausible)


def _refuse_wide_window(where: str, plausible: tuple[float, float]) -> None:
    low, high = plausible
    if not 0 < low < high < 1000 * low:
        raise TypeError(
            f"{where}: plausible=({low:g}, {high:g}) would not refuse a slip by a thousand; "
            "give 0 < low < high < 1000 x low"
        )
