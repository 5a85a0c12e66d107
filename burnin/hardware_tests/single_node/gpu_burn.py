"""Every GPU of one node burns at once: are results right, and do heat and power hold?

By gpu-burn, with nvidia-smi beside it, which samples temperature, power and throttle reasons; on
GPUs of AMD by RVS, which checks products, then loads for power, and tells no heat.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

from pydantic import Field

from burnin.hardware_tests.artifacts import ArtifactCollector
from burnin.hardware_tests.base import SingleNodeTest
from burnin.hardware_tests.batch import SlurmBatchConfig, make_single_node_slurm_batch_config
from burnin.hardware_tests.evaluation import NotMeasured
from burnin.hardware_tests.given import given_params
from burnin.hardware_tests.gpu_node import read_gpu_node, refuse_other_count
from burnin.hardware_tests.gpu_samples import SampledGpu, sampled_gpus
from burnin.hardware_tests.metrics import (
    BaseMetrics,
    Better,
    MetricUnit,
    MetricValue,
    clip_detail,
    metric,
)
from burnin.hardware_tests.params import TestParams
from burnin.hardware_tests.parsers import gpu_burn
from burnin.hardware_tests.parsers.gpu_burn import BurntGpu, GpuBurnReport
from burnin.hardware_tests.run_context import RunContext
from burnin.hardware_tests.rvs_burn import AmdBurn, amd_burn
from burnin.hardware_tests.rvs_node import has_amd_gpus
from burnin.hardware_tests.thresholds.schema import Thresholds
from fleet.hardware import AMD, NVIDIA, Hardware
from runner.contract.slugs import Slugs

THREE_DAYS_S = 3 * 24 * 3600


class GpuBurnParams(TestParams):
    """Precision and share of memory are fixed in the recipe; a longer run finds more."""

    duration_s: int = Field(default=900, ge=60, le=THREE_DAYS_S, description="Seconds of burning.")


class GpuBurnMetrics(BaseMetrics):
    """In reading order. Once a GPU is faulty, what the others drew and reached is not asked."""

    faulty_gpus: int = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="GPUs that computed wrong values or died"
    )
    throttled_gpus: MetricValue = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="GPUs that their hardware slowed down"
    )
    temperature: MetricValue = metric(MetricUnit.CELSIUS, better=Better.LOWER, label="Hottest GPU")
    sustained_power: MetricValue = metric(
        MetricUnit.WATTS,
        better=Better.HIGHER,
        label="Lowest GPU, median power",
        plausible=(50, 3000),
    )
    slowest_gpu: MetricValue = metric(
        MetricUnit.PERCENT, better=Better.HIGHER, label="Slowest GPU, of the fastest"
    )
    throughput: MetricValue = metric(MetricUnit.GFLOPS, label="Slowest GPU")
    gpu_count: int = metric(MetricUnit.COUNT, label="GPUs burnt", api_visible=False)


class GpuBurnThresholds(Thresholds):
    """Limits in each metric's unit. The values are in thresholds.yaml."""

    faulty_gpus: int = Field(ge=0)
    throttled_gpus: int = Field(ge=0)
    temperature: float = Field(gt=0)
    sustained_power: float = Field(gt=0)
    slowest_gpu: float = Field(gt=0, le=100)


class GpuBurn(SingleNodeTest):
    slug = Slugs.GPU_BURN
    display_name = "GPU burn"
    takes_s = 60
    silent_for_s = 900.0  # it reports every few seconds, once its image is there
    params_class = GpuBurnParams
    metrics_class = GpuBurnMetrics
    thresholds_class = GpuBurnThresholds
    fixed_knobs = MappingProxyType(
        {"precision": "float, tensor cores; AMD double, 8192", "memory": "90 %"}
    )
    gpu_makers = frozenset({NVIDIA, AMD})
    container = "gpu-burn"

    @classmethod
    def container_on(cls, hardware: Hardware) -> str:
        return "rvs" if hardware.gpu_maker == AMD else cls.container

    def make_batch_config(self, context: RunContext) -> SlurmBatchConfig:
        return make_single_node_slurm_batch_config(context, gpus_per_node=context.gpus_per_node)

    def extract_metrics(self, artifact_collector: ArtifactCollector) -> GpuBurnMetrics:
        """Take the tool's verdicts; of good GPUs the worst, as gpu-burn and nvidia-smi saw them."""
        if has_amd_gpus(artifact_collector):
            asked = given_params(artifact_collector.metadata, GpuBurnParams)
            return _of_amd(amd_burn(artifact_collector, asked.duration_s))
        text = artifact_collector.get_custom_file("gpu-burn.txt").read_text()
        report = gpu_burn.parse(text)
        gpu_count = read_gpu_node(artifact_collector).gpu_count
        refuse_other_count(artifact_collector, len(report.gpus), "gpu-burn")
        faulty = [gpu for gpu in report.gpus if not gpu.is_good]
        if faulty:
            return _faulty(report, faulty)
        asked = given_params(artifact_collector.metadata, GpuBurnParams)
        if f"Burning for {asked.duration_s} seconds." not in text:
            raise NotMeasured(f"gpu-burn does not say that it burnt for {asked.duration_s} s")
        samples = artifact_collector.get_custom_file("gpu-samples.csv").read_text()
        return _good(
            report, sampled_gpus(samples, gpu_count=gpu_count, duration_s=asked.duration_s)
        )


def _of_amd(burn: AmdBurn) -> GpuBurnMetrics:
    if burn.faults:
        return _only_faults(burn.faults, burn.gpu_count, "; ".join(burn.faults))
    gflops, watts = burn.gflops, burn.median_power_w
    slowest, fastest = min(gflops, key=gflops.__getitem__), max(gflops, key=gflops.__getitem__)
    lowest = min(watts, key=watts.__getitem__)
    return GpuBurnMetrics(
        faulty_gpus=0,
        throttled_gpus=None,
        temperature=None,
        sustained_power=watts[lowest],
        slowest_gpu=100 * gflops[slowest] / gflops[fastest],
        throughput=gflops[slowest],
        gpu_count=burn.gpu_count,
        details={
            "sustained_power": lowest,
            "slowest_gpu": f"{slowest}; fastest {fastest} at {gflops[fastest]:.0f} GFLOPS",
            "throughput": slowest,
        },
    )


def _faulty(report: GpuBurnReport, faulty: list[BurntGpu]) -> GpuBurnMetrics:
    words = "; ".join([*map(_fault, faulty), *report.reasons])
    return _only_faults(faulty, len(report.gpus), words)


def _only_faults(faulty: Sequence[object], gpu_count: int, words: str) -> GpuBurnMetrics:
    return GpuBurnMetrics(
        faulty_gpus=len(faulty),
        throttled_gpus=None,
        temperature=None,
        sustained_power=None,
        slowest_gpu=None,
        throughput=None,
        gpu_count=gpu_count,
        details={"faulty_gpus": clip_detail(words)},
    )


def _good(report: GpuBurnReport, sampled: tuple[SampledGpu, ...]) -> GpuBurnMetrics:
    speeds = {gpu.index: _speed(gpu) for gpu in report.gpus}
    slowest, fastest = min(speeds, key=speeds.__getitem__), max(speeds, key=speeds.__getitem__)
    hottest = max(sampled, key=lambda gpu: gpu.hottest_c)
    lowest = min(sampled, key=lambda gpu: gpu.median_power_w)
    throttled = [gpu for gpu in sampled if gpu.throttled]
    details = {
        "throttled_gpus": clip_detail("; ".join(map(_throttle, throttled))),
        "temperature": f"GPU {hottest.index}",
        "sustained_power": f"GPU {lowest.index}",
        "slowest_gpu": f"GPU {slowest}; fastest GPU {fastest} at {speeds[fastest]:.0f} GFLOPS",
        "throughput": f"GPU {slowest}",
    }
    return GpuBurnMetrics(
        faulty_gpus=0,
        throttled_gpus=len(throttled),
        temperature=hottest.hottest_c,
        sustained_power=lowest.median_power_w,
        slowest_gpu=100 * speeds[slowest] / speeds[fastest],
        throughput=speeds[slowest],
        gpu_count=len(report.gpus),
        details={name: words for name, words in details.items() if words},
    )


def _speed(gpu: BurntGpu) -> float:
    if not gpu.last_gflops:
        raise NotMeasured(f"gpu-burn calls GPU {gpu.index} OK, which never reported a result")
    return gpu.last_gflops


def _fault(gpu: BurntGpu) -> str:
    name = f"GPU {gpu.index}" + (f" ({gpu.uuid})" if gpu.uuid else "")
    return f"{name}: died" if gpu.died else f"{name}: {gpu.worst_errors or 'some'} wrong values"


def _throttle(gpu: SampledGpu) -> str:
    why = ", ".join(gpu.throttle_reasons)
    return f"GPU {gpu.index}: {why} in {gpu.throttled} of {gpu.samples} samples"
