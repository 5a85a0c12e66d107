"""The burn of GPUs of AMD: what RVS found wrong, and how fast and hot they were as it looked.

RVS passes over what it does not know. So its check of products is believed only if it found the
errors that it was told to make first; those accuse no GPU.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from burnin.hardware_tests.artifacts import ArtifactCollector
from burnin.hardware_tests.evaluation import NotMeasured
from burnin.hardware_tests.parsers.rvs_report import RvsPower, RvsProducts, RvsReport
from burnin.hardware_tests.rvs_node import products_of, read_actions, why_broke_off
from runner.contract.sampling import rvs_period_ms

PROOF, BURN, POWER = "proof", "burn", "power"
MOST_LOST = 0.5  # share of the numbers asked for


@dataclass(frozen=True)
class AmdBurn:
    """`faults` names each faulty GPU once. Speeds and powers are of the others, by their names."""

    faults: tuple[str, ...]
    gflops: dict[str, float]
    median_power_w: dict[str, float]
    gpu_count: int


def amd_burn(artifact_collector: ArtifactCollector, duration_s: int) -> AmdBurn:
    """Return what came of it; raise NotMeasured if without a fault something is missing."""
    report = read_actions(artifact_collector, PROOF, BURN, POWER)
    burnt = products_of(report, BURN)
    faults = tuple(words for each in burnt if (words := _fault(report, each)))
    if faults:
        return AmdBurn(faults, {}, {}, len(burnt))
    _refuse_blind(report)
    wanted = duration_s * 500 / rvs_period_ms(duration_s * 500) * (1 - MOST_LOST)
    for each in burnt:
        _refuse_few(report.named(each.gpu_id), "speeds", len(each.intervals_gflops), wanted)
    return AmdBurn(
        faults=(),
        gflops={report.named(each.gpu_id): each.best_gflops or 0.0 for each in burnt},
        median_power_w=_powers(report, wanted),
        gpu_count=len(burnt),
    )


def _fault(report: RvsReport, product: RvsProducts) -> str:
    if product.wrong_products:
        return f"{report.named(product.gpu_id)}: {product.wrong_products} wrong products"
    return why_broke_off(report, product) if product.broke_off else ""


def _refuse_blind(report: RvsReport) -> None:
    for each in products_of(report, PROOF):
        if not each.wrong_products:
            raise NotMeasured(
                f"RVS {report.version} did not see the errors that it made itself on"
                f" {report.named(each.gpu_id)}: it does not check products, take a newer one"
            )


def _powers(report: RvsReport, wanted: float) -> dict[str, float]:
    powers = [each for each in report.powers if each.action == POWER]
    if sorted(each.gpu_id for each in powers) != sorted(gpu.gpu_id for gpu in report.gpus):
        raise NotMeasured(f"RVS tells the power of {len(powers)} GPUs of {len(report.gpus)}")
    return {report.named(each.gpu_id): _under_load(report, each, wanted) for each in powers}


def _under_load(report: RvsReport, power: RvsPower, wanted: float) -> float:
    """Return the median of what was read after the first time, which is before the load."""
    loaded = power.samples_w[1:]
    _refuse_few(report.named(power.gpu_id), "powers", len(loaded), wanted)
    if power.passed is None:
        raise NotMeasured(f"RVS did not end its load on {report.named(power.gpu_id)}")
    return median(loaded)


def _refuse_few(gpu: str, what: str, found: int, wanted: float) -> None:
    if found < wanted:
        raise NotMeasured(
            f"RVS tells {found} {what} of {gpu}, at least {wanted:.0f} are needed:"
            " it was not under load for as long as asked"
        )
