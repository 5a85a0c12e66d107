"""Which class runs which test. Modules are named, not imported: a run loads only its own."""

from __future__ import annotations

from importlib import import_module

from runner.contract.slugs import Slugs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.base import BaseRunner

EXECUTORS = {
    Slugs.HELLO_WORLD: "runner.executors.hello_world:HelloWorld",
    Slugs.NODE_HEALTH: "runner.executors.node_health:NodeHealth",
    Slugs.MEMORY_STRESS: "runner.executors.memory_stress:MemoryStress",
    Slugs.STORAGE: "runner.executors.storage:Storage",
    Slugs.CPU_STRESS: "runner.executors.cpu_stress:CpuStress",
    Slugs.NVME: "runner.executors.nvme:Nvme",
    Slugs.DCGMI: "runner.executors.dcgmi:Dcgmi",
    Slugs.RVS: "runner.executors.rvs:Rvs",
    Slugs.GPU_BURN: "runner.executors.gpu_burn:GpuBurn",
    Slugs.GEMM: "runner.executors.gemm:Gemm",
    Slugs.HPL_CPU: "runner.executors.hpl_cpu:HplCpu",
    Slugs.MEMORY_BANDWIDTH: "runner.executors.memory_bandwidth:MemoryBandwidth",
    Slugs.HPL_GPU: "runner.executors.hpl_gpu:HplGpu",
    Slugs.HPL_MXP: "runner.executors.hpl_gpu:HplMxp",
    Slugs.HPCG: "runner.executors.hpcg:Hpcg",
    Slugs.MPI_ALL_REDUCE: "runner.executors.mpi_collective:MpiAllReduce",
    Slugs.MPI_ALL_GATHER: "runner.executors.mpi_collective:MpiAllGather",
    Slugs.MPI_ALL_TO_ALL: "runner.executors.mpi_collective:MpiAllToAll",
    Slugs.IPERF_MATRIX: "runner.executors.iperf_matrix:IperfMatrix",
    Slugs.DISTRIBUTED_TRAINING: "runner.executors.distributed_training:DistributedTraining",
    Slugs.DISTRIBUTED_TRAINING_CPU: "runner.executors.distributed_training_cpu:TrainingCpu",
    Slugs.PARALLEL_STORAGE: "runner.executors.parallel_storage:ParallelStorage",
    Slugs.PAIR_NET_BANDWIDTH: "runner.executors.pair_network:PairNetBandwidth",
    Slugs.PAIR_NET_LATENCY: "runner.executors.pair_network:PairNetLatency",
    Slugs.PAIR_NET_BANDWIDTH_GPU: "runner.executors.pair_network:PairNetBandwidthGpu",
    Slugs.PAIR_NET_LATENCY_GPU: "runner.executors.pair_network:PairNetLatencyGpu",
    Slugs.NCCL_LOOPBACK: "runner.executors.nccl_loopback:NcclLoopback",
    Slugs.NCCL_LOOPBACK_NETWORK: "runner.executors.nccl_loopback:NcclLoopbackNetwork",
    Slugs.NCCL_ALL_REDUCE: "runner.executors.nccl_collective:NcclAllReduce",
    Slugs.NCCL_ALL_GATHER: "runner.executors.nccl_collective:NcclAllGather",
    Slugs.NCCL_REDUCE_SCATTER: "runner.executors.nccl_collective:NcclReduceScatter",
    Slugs.NCCL_ALL_TO_ALL: "runner.executors.nccl_collective:NcclAllToAll",
    Slugs.NCCL_SENDRECV: "runner.executors.nccl_collective:NcclSendrecv",
    Slugs.NCCL_BROADCAST: "runner.executors.nccl_collective:NcclBroadcast",
}


def get_executor(slug: str) -> type[BaseRunner]:
    """Return the class that runs `slug`, which must be a key of EXECUTORS."""
    module, _, name = EXECUTORS[slug].partition(":")
    executor: type[BaseRunner] = getattr(import_module(module), name)
    return executor
