"""A node's run of RVS: rvs.txt, whose actions and GPUs must be those that were asked for."""

from __future__ import annotations

from burnin.hardware_tests.artifacts import ArtifactCollector
from burnin.hardware_tests.evaluation import NotMeasured
from burnin.hardware_tests.gpu_node import read_gpu_node, refuse_other_count
from burnin.hardware_tests.parsers import rvs
from burnin.hardware_tests.parsers.rvs_report import RvsProducts, RvsReport
from fleet.hardware import AMD

REPORT = "rvs.txt"


def has_amd_gpus(artifact_collector: ArtifactCollector) -> bool:
    """Whether the node was asked for what nodes with GPUs of AMD are asked."""
    return read_gpu_node(artifact_collector).maker == AMD


def read_rvs(artifact_collector: ArtifactCollector) -> RvsReport:
    """Return the report. Raises NotMeasured if RVS saw other GPUs than the job was given."""
    report = rvs.parse(artifact_collector.get_custom_file(REPORT).read_text())
    refuse_other_count(artifact_collector, len(report.gpus), "RVS")
    return report


def read_actions(artifact_collector: ArtifactCollector, *names: str) -> RvsReport:
    """Return the report. Raises NotMeasured if RVS did other actions than these."""
    report = read_rvs(artifact_collector)
    found = [action.name for action in report.actions]
    if found != list(names):
        raise NotMeasured(f"RVS was asked for {', '.join(names)} and did {', '.join(found)}")
    return report


def products_of(report: RvsReport, action: str) -> tuple[RvsProducts, ...]:
    """Return what each GPU computed, or broke off. Raises NotMeasured of one that never began."""
    products = [each for each in report.products if each.action == action]
    if sorted(each.gpu_id for each in products) != sorted(gpu.gpu_id for gpu in report.gpus):
        raise NotMeasured(f"RVS multiplied on {len(products)} GPUs of {len(report.gpus)}")
    for each in products:
        if each.best_gflops is None and not each.broke_off:
            why = each.failure or "it says nothing of it"
            raise NotMeasured(f"RVS got no product of {report.named(each.gpu_id)}: {why}")
        if each.best_gflops == 0:
            raise NotMeasured(f"RVS got no product of {report.named(each.gpu_id)}")
    if all(each.broke_off for each in products):
        raise NotMeasured(f"RVS broke off on every GPU: {products[0].failure}")
    return tuple(products)


def why_broke_off(report: RvsReport, product: RvsProducts) -> str:
    return f"{report.named(product.gpu_id)}: broke off: {product.failure or 'RVS says not why'}"
