"""What memory of AMD's GPUs reaches: its own by RVS's BabelStream, ways by rocm-bandwidth-test.

The ways were checked before they were timed: what arrives must be what was sent.
"""

from __future__ import annotations

from collections.abc import Iterable

from burnin.hardware_tests.artifacts import ArtifactCollector
from burnin.hardware_tests.evaluation import NotMeasured
from burnin.hardware_tests.parsers import rocm_bandwidth
from burnin.hardware_tests.parsers.rocm_bandwidth import Copy, RocmBandwidthReport
from burnin.hardware_tests.rvs_node import read_actions
from burnin.hardware_tests.single_node.gpu_memory import GpuMemory, Slowest

WAYS, CHECK = "rocm-bandwidth-test.txt", "rocm-bandwidth-check.txt"
ACTION, KERNEL = "own-memory", "Copy"
KERNELS = ("Copy", "Mul", "Add", "Triad", "Dot")


def amd_tools(artifact_collector: ArtifactCollector) -> str:
    """Return the tools that measured, with their versions."""
    ways = _ways(artifact_collector, WAYS)
    version = read_actions(artifact_collector, ACTION).version
    return f"rvs {version}, rocm-bandwidth-test {ways.version}"


def amd_wrong_data(artifact_collector: ArtifactCollector) -> list[str]:
    """Say what came back other than it was written. Raises NotMeasured of a way not checked."""
    checked = _ways(artifact_collector, CHECK)
    names = _names(checked)
    _refuse_other_ways(
        checked, {(each.source, each.target) for each in checked.checks}, "rocm-bandwidth-test -v"
    )
    paths = [
        f"{names[each.source]} to {names[each.target]}: data arrive changed"
        for each in checked.checks
        if not each.passed
    ]
    return [*paths, *read_actions(artifact_collector, ACTION).wrong_data]


def amd_memory(artifact_collector: ArtifactCollector, gpu_count: int) -> GpuMemory:
    """Return the worst of each; raise NotMeasured where a GPU or a way was left out."""
    report = _ways(artifact_collector, WAYS)
    if len(report.gpus) != gpu_count:
        raise NotMeasured(
            f"rocm-bandwidth-test sees {len(report.gpus)} GPUs, the job was given {gpu_count}"
        )
    found = {(each.source, each.target) for each in report.one_way}
    _refuse_other_ways(report, found, "rocm-bandwidth-test -a")
    gpus = {gpu.index for gpu in report.gpus}
    peers = _between(report, gpus, gpus)
    return GpuMemory(
        own=_own(artifact_collector),
        to_gpu=_slowest(report, [each for each in report.one_way if each.source not in gpus]),
        from_gpu=_slowest(report, [each for each in report.one_way if each.target not in gpus]),
        peers=_slowest(report, peers) if peers else None,
    )


def _own(artifact_collector: ArtifactCollector) -> Slowest:
    """Take BabelStream's copy: a byte that is read and written is two."""
    report = read_actions(artifact_collector, ACTION)
    speeds: dict[str, float] = {}
    for gpu in report.gpus:
        ran = [each for each in report.streams if each.gpu_id == gpu.gpu_id]
        if tuple(each.kernel for each in ran) != KERNELS:
            said = "; ".join(report.errors) or "it says not why"
            raise NotMeasured(f"BabelStream did not run once on {gpu}: {said:.300}")
        speeds[str(gpu)] = next(each.gb_per_s for each in ran if each.kernel == KERNEL)
    where = min(speeds, key=speeds.__getitem__)
    return Slowest(speeds[where], where, max(speeds.values()))


def _ways(artifact_collector: ArtifactCollector, name: str) -> RocmBandwidthReport:
    return rocm_bandwidth.parse(artifact_collector.get_custom_file(name).read_text())


def _names(report: RocmBandwidthReport) -> dict[int, str]:
    gpus = {gpu.index: f"GPU {at} ({gpu.bus_id})" for at, gpu in enumerate(report.gpus)}
    return {each.index: gpus.get(each.index, f"CPU {each.index}") for each in report.devices}


def _refuse_other_ways(report: RocmBandwidthReport, found: set[tuple[int, int]], what: str) -> None:
    """Raise NotMeasured unless every way between a GPU and the host was gone, and all or no peers.

    GPUs of which none reaches another have no such ways; if some do, the others are missing.
    """
    gpus = {gpu.index for gpu in report.gpus}
    hosts = {device.index for device in report.devices} - gpus
    wanted = {pair for host in hosts for gpu in gpus for pair in ((host, gpu), (gpu, host))}
    peers = {(a, b) for a in gpus for b in gpus if a != b}
    if found & peers:
        wanted |= peers
    if not gpus or not hosts or (missing := wanted - found):
        names = _names(report)
        ways = [f"{names[a]} to {names[b]}" for a, b in sorted(missing)] if gpus and hosts else []
        raise NotMeasured(f"{what} left out {', '.join(ways[:3]) or 'GPUs or the host'}")


def _between(
    report: RocmBandwidthReport, sources: Iterable[int], targets: Iterable[int]
) -> list[Copy]:
    return [
        each
        for each in report.one_way
        if each.source in sources and each.target in targets and each.source != each.target
    ]


def _slowest(report: RocmBandwidthReport, copies: list[Copy]) -> Slowest:
    worst = min(copies, key=lambda each: each.gb_per_s)
    names = _names(report)
    return Slowest(
        worst.gb_per_s,
        f"{names[worst.source]} to {names[worst.target]}",
        max(each.gb_per_s for each in copies),
    )
