"""The name of every hardware test. One line a test; hub and node both read it here."""

from __future__ import annotations


class Slugs:
    HELLO_WORLD = "single-node.hello-world"
    NODE_HEALTH = "single-node.node-health"
    MEMORY_STRESS = "single-node.memory-stress"
    STORAGE = "single-node.storage"
    CPU_STRESS = "single-node.cpu-stress"
    NVME = "single-node.nvme"
    DCGMI = "single-node.dcgmi"
    RVS = "single-node.rvs"
    GPU_BURN = "single-node.gpu-burn"
    GEMM = "single-node.gemm"
    HPL_CPU = "single-node.hpl-cpu"
    NCCL_LOOPBACK = "single-node.nccl-loopback"
    NCCL_LOOPBACK_NETWORK = "single-node.nccl-loopback-network"
    MEMORY_BANDWIDTH = "single-node.memory-bandwidth"
    HPL_GPU = "single-node.hpl-gpu"
    HPL_MXP = "single-node.hpl-mxp"
    HPCG = "single-node.hpcg"
    MPI_ALL_REDUCE = "multi-node.mpi-all-reduce"
    MPI_ALL_GATHER = "multi-node.mpi-all-gather"
    MPI_ALL_TO_ALL = "multi-node.mpi-all-to-all"
    IPERF_MATRIX = "multi-node.iperf-matrix"
    DISTRIBUTED_TRAINING = "multi-node.distributed-training"
    DISTRIBUTED_TRAINING_CPU = "multi-node.distributed-training-cpu"
    PARALLEL_STORAGE = "multi-node.parallel-storage"
    PAIR_NET_BANDWIDTH = "pairwise.net-bandwidth"
    PAIR_NET_LATENCY = "pairwise.net-latency"
    PAIR_NET_BANDWIDTH_GPU = "pairwise.net-bandwidth-gpu"
    PAIR_NET_LATENCY_GPU = "pairwise.net-latency-gpu"
    NCCL_ALL_REDUCE = "multi-node.nccl-all-reduce"
    NCCL_ALL_GATHER = "multi-node.nccl-all-gather"
    NCCL_REDUCE_SCATTER = "multi-node.nccl-reduce-scatter"
    NCCL_ALL_TO_ALL = "multi-node.nccl-all-to-all"
    NCCL_SENDRECV = "multi-node.nccl-sendrecv"
    NCCL_BROADCAST = "multi-node.nccl-broadcast"


def all_slugs() -> tuple[str, ...]:
    """Return every slug, in the order they are declared."""
    return tuple(value for name, value in vars(Slugs).items() if name.isupper())
