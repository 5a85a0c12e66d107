"""The processes that workloads over several nodes are made of. Modules are named, not imported."""

from __future__ import annotations

MPI_COLLECTIVE = "mpi-collective"
IPERF_ROUND = "iperf-round"
TRAINING = "training"
TORCH_TRAINING = "torch-training"
FIO_SERVER = "fio-server"
MPI_PING_PONG = "mpi-ping-pong"
RDMA_PORTS = "rdma-ports"

WORKERS = {
    MPI_COLLECTIVE: "runner.workers.mpi_collective",
    IPERF_ROUND: "runner.workers.iperf_round",
    TRAINING: "runner.workers.training",
    TORCH_TRAINING: "runner.workers.torch_training",
    FIO_SERVER: "runner.workers.fio_server",
    MPI_PING_PONG: "runner.workers.mpi_ping_pong",
    RDMA_PORTS: "runner.workers.rdma_ports",
}
