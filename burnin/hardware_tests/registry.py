"""Every hardware test there is. A new one is one entry here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import SequenceMatcher, get_close_matches

from burnin.hardware_tests.base import BaseTest
from burnin.hardware_tests.multi_node.distributed_training import DistributedTraining
from burnin.hardware_tests.multi_node.distributed_training_cpu import DistributedTrainingCpu
from burnin.hardware_tests.multi_node.iperf_matrix import IperfMatrix
from burnin.hardware_tests.multi_node.mpi_collective import MpiAllGather, MpiAllReduce, MpiAllToAll
from burnin.hardware_tests.multi_node.nccl_collective import (
    NcclAllGather,
    NcclAllReduce,
    NcclAllToAll,
    NcclBroadcast,
    NcclReduceScatter,
    NcclSendrecv,
)
from burnin.hardware_tests.multi_node.parallel_storage import ParallelStorage
from burnin.hardware_tests.pairwise.net_bandwidth import PairNetBandwidth, PairNetBandwidthGpu
from burnin.hardware_tests.pairwise.net_latency import PairNetLatency, PairNetLatencyGpu
from burnin.hardware_tests.single_node.cpu_stress import CpuStress
from burnin.hardware_tests.single_node.dcgmi import Dcgmi
from burnin.hardware_tests.single_node.gemm import Gemm
from burnin.hardware_tests.single_node.gpu_burn import GpuBurn
from burnin.hardware_tests.single_node.hello_world import HelloWorld
from burnin.hardware_tests.single_node.hpcg import Hpcg
from burnin.hardware_tests.single_node.hpl_cpu import HplCpu
from burnin.hardware_tests.single_node.hpl_gpu import HplGpu, HplMxp
from burnin.hardware_tests.single_node.memory_bandwidth import MemoryBandwidth
from burnin.hardware_tests.single_node.memory_stress import MemoryStress
from burnin.hardware_tests.single_node.nccl_loopback import NcclLoopback, NcclLoopbackNetwork
from burnin.hardware_tests.single_node.node_health import NodeHealthCheckTest
from burnin.hardware_tests.single_node.nvme import Nvme
from burnin.hardware_tests.single_node.rvs import Rvs
from burnin.hardware_tests.single_node.storage import Storage

_REGISTERED_TESTS: tuple[type[BaseTest], ...] = (
    HelloWorld,
    NodeHealthCheckTest,
    MemoryStress,
    Storage,
    CpuStress,
    Nvme,
    Dcgmi,
    Rvs,
    GpuBurn,
    Gemm,
    HplCpu,
    NcclLoopback,
    NcclLoopbackNetwork,
    MemoryBandwidth,
    HplGpu,
    HplMxp,
    Hpcg,
    MpiAllReduce,
    MpiAllGather,
    MpiAllToAll,
    IperfMatrix,
    DistributedTraining,
    DistributedTrainingCpu,
    ParallelStorage,
    PairNetBandwidth,
    PairNetLatency,
    PairNetBandwidthGpu,
    PairNetLatencyGpu,
    NcclAllReduce,
    NcclAllGather,
    NcclReduceScatter,
    NcclAllToAll,
    NcclSendrecv,
    NcclBroadcast,
)


class UnknownSlug(LookupError):
    """No test has this slug. The message names those that come near."""


class ConfusingSlugs(ValueError):
    """Two tests have names that an operator would mix up."""


def get_test_class(slug: str) -> type[BaseTest]:
    """Return the test of this slug. Raises UnknownSlug."""
    known = {test.slug: test for test in _REGISTERED_TESTS}
    if slug in known:
        return known[slug]
    near = get_close_matches(slug, known, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(known)}"
    raise UnknownSlug(f"there is no test {slug!r:.100}; {hint}")


def list_all_tests() -> tuple[type[BaseTest], ...]:
    """Return every test, in the order of the registry."""
    return _REGISTERED_TESTS


def refuse_confusing_slugs(slugs: Iterable[str]) -> None:
    """Raise ConfusingSlugs for equal slugs and for such as differ by a letter or a dash."""
    seen: dict[str, str] = {}
    for slug in slugs:
        folded = slug.replace("-", "").removesuffix("s")
        if near := _near(folded, seen):
            raise ConfusingSlugs(f"{slug} and {seen[near]} are too alike: rename one")
        seen[folded] = slug


def _near(folded: str, seen: Mapping[str, str]) -> str:
    for other in seen:
        if SequenceMatcher(None, folded, other).ratio() > 0.97:
            return other
    return ""


refuse_confusing_slugs(test.slug for test in _REGISTERED_TESTS)
