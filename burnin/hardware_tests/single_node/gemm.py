"""bf16 matrices are multiplied on every GPU of one node: how fast is each, how even are they?

By gpu-fryer, on GPUs of AMD by RVS, which tells no temperature and no throttling. Neither looks
at the products: that is `single-node.gpu-burn`'s part.
"""

from __future__ import annotations

from types import MappingProxyType

from pydantic import Field

from burnin.hardware_tests.artifacts import ArtifactCollector
from burnin.hardware_tests.base import SingleNodeTest
from burnin.hardware_tests.batch import SlurmBatchConfig, make_single_node_slurm_batch_config
from burnin.hardware_tests.evaluation import NotMeasured
from burnin.hardware_tests.gpu_node import refuse_other_count
from burnin.hardware_tests.metrics import (
    BaseMetrics,
    Better,
    MetricUnit,
    MetricValue,
    clip_detail,
    metric,
)
from burnin.hardware_tests.params import TestParams
from burnin.hardware_tests.parsers import gpu_fryer
from burnin.hardware_tests.parsers.gpu_fryer import FriedGpu, GpuFryerReport
from burnin.hardware_tests.parsers.rvs_report import RvsReport
from burnin.hardware_tests.run_context import RunContext
from burnin.hardware_tests.rvs_node import has_amd_gpus, products_of, read_actions, why_broke_off
from burnin.hardware_tests.thresholds.schema import Thresholds
from fleet.hardware import AMD, NVIDIA, Hardware
from runner.contract.slugs import Slugs

PRECISION, AMD_ACTION = "BF16", "gemm-bf16"


class GemmParams(TestParams):
    """Nothing to turn: precision, size and duration are fixed, as each moves the right floor."""


class GemmMetrics(BaseMetrics):
    """In reading order: the number that decides comes first."""

    gemm_throughput: float = metric(
        MetricUnit.TFLOPS,
        better=Better.HIGHER,
        label="Slowest GPU, bf16 matrix product",
        plausible=(20, 10_000),
    )
    slowest_gpu: float = metric(
        MetricUnit.PERCENT, better=Better.HIGHER, label="Slowest GPU, of the fastest"
    )
    throttled_gpus: MetricValue = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="GPUs that were slowed down"
    )
    unhealthy_gpus: int = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="GPUs that broke off, or are called unhealthy"
    )
    temperature: MetricValue = metric(MetricUnit.CELSIUS, label="Hottest GPU")
    gpu_count: int = metric(MetricUnit.COUNT, label="GPUs measured", api_visible=False)


class GemmThresholds(Thresholds):
    """Limits in each metric's unit. The values are in thresholds.yaml."""

    gemm_throughput: float = Field(gt=0)
    slowest_gpu: float = Field(gt=0, le=100)
    throttled_gpus: int = Field(ge=0)
    unhealthy_gpus: int = Field(ge=0)


class Gemm(SingleNodeTest):
    slug = Slugs.GEMM
    display_name = "GPU matrix throughput"
    takes_s = 90
    params_class = GemmParams
    metrics_class = GemmMetrics
    thresholds_class = GemmThresholds
    fixed_knobs = MappingProxyType(
        {"precision": "bf16", "size": "8192, AMD 4864 x 4096 x 8192", "duration_s": 60}
    )
    gpu_makers = frozenset({NVIDIA, AMD})
    container = "gpu-fryer"

    @classmethod
    def container_on(cls, hardware: Hardware) -> str:
        return "rvs" if hardware.gpu_maker == AMD else cls.container

    def make_batch_config(self, context: RunContext) -> SlurmBatchConfig:
        return make_single_node_slurm_batch_config(context, gpus_per_node=context.gpus_per_node)

    def extract_metrics(self, artifact_collector: ArtifactCollector) -> GemmMetrics:
        """Take the speed of each GPU; the slowest counts, and is set against the fastest."""
        if has_amd_gpus(artifact_collector):
            return _of_amd(read_actions(artifact_collector, AMD_ACTION))
        report = gpu_fryer.parse(artifact_collector.get_custom_file("gpu-fryer.txt").read_text())
        refuse_other_count(artifact_collector, len(report.gpus), "gpu-fryer")
        if report.precision != PRECISION:
            raise NotMeasured(f"gpu-fryer computed in {report.precision}, not in {PRECISION}")
        unhealthy = _unhealthy(report)
        speeds = {gpu.index: _speed(gpu, unhealthy) for gpu in report.gpus}
        slowest, fastest = min(speeds, key=speeds.__getitem__), max(speeds, key=speeds.__getitem__)
        if not speeds[fastest]:
            raise NotMeasured("gpu-fryer got no product of any GPU: nothing was measured")
        return GemmMetrics(
            gemm_throughput=speeds[slowest] / 1000,
            slowest_gpu=100 * speeds[slowest] / speeds[fastest],
            throttled_gpus=sum(bool(gpu.throttle_reasons) for gpu in report.gpus),
            unhealthy_gpus=len(unhealthy),
            temperature=max((gpu.hottest_c for gpu in report.gpus if gpu.hottest_c), default=None),
            gpu_count=len(report.gpus),
            details={
                "gemm_throughput": _named(report, slowest),
                "slowest_gpu": f"GPU {slowest}; fastest GPU {fastest} at {_shown(speeds[fastest])}",
                "temperature": _hottest(report),
                **_throttled(report),
                **_reasons(report),
            },
        )


def _of_amd(report: RvsReport) -> GemmMetrics:
    """Take the best interval of each GPU, for AMD's own floor is of that."""
    products = products_of(report, AMD_ACTION)
    speeds = {report.named(each.gpu_id): each.best_gflops or 0.0 for each in products}
    slowest, fastest = min(speeds, key=speeds.__getitem__), max(speeds, key=speeds.__getitem__)
    broken = [why_broke_off(report, each) for each in products if each.broke_off]
    details = {
        "gemm_throughput": slowest,
        "slowest_gpu": f"{slowest}; fastest {fastest} at {_shown(speeds[fastest])}",
        "unhealthy_gpus": clip_detail("; ".join(broken)),
    }
    return GemmMetrics(
        gemm_throughput=speeds[slowest] / 1000,
        slowest_gpu=100 * speeds[slowest] / speeds[fastest],
        throttled_gpus=None,
        unhealthy_gpus=len(broken),
        temperature=None,
        gpu_count=len(products),
        details={name: words for name, words in details.items() if words},
    )


def _unhealthy(report: GpuFryerReport) -> set[int]:
    """Return the GPUs in gpu-fryer's reasons, which read "GPU 5 - GPU is throttled. …"."""
    return {int(reason.split()[1]) for reason in report.reasons}


def _speed(gpu: FriedGpu, unhealthy: set[int]) -> float:
    """A GPU without a product is at fault where gpu-fryer says so, else it was not measured."""
    if gpu.mean_gflops is None and gpu.index not in unhealthy:
        raise NotMeasured(f"gpu-fryer got no product of GPU {gpu.index}: it was not measured")
    return gpu.mean_gflops or 0.0


def _named(report: GpuFryerReport, index: int) -> str:
    gpu = next(each for each in report.gpus if each.index == index)
    return f"GPU {index} ({gpu.uuid})" if gpu.uuid else f"GPU {index}"


def _shown(gflops: float) -> str:
    return f"{gflops / 1000:.4g} TFLOPS"


def _hottest(report: GpuFryerReport) -> str:
    return _named(report, max(report.gpus, key=lambda gpu: gpu.hottest_c or 0).index)


def _reasons(report: GpuFryerReport) -> dict[str, str]:
    return {"unhealthy_gpus": clip_detail("; ".join(report.reasons))} if report.reasons else {}


def _throttled(report: GpuFryerReport) -> dict[str, str]:
    words = "; ".join(
        f"GPU {gpu.index}: {', '.join(gpu.throttle_reasons)}"
        for gpu in report.gpus
        if gpu.throttle_reasons
    )
    return {"throttled_gpus": clip_detail(words)} if words else {}
