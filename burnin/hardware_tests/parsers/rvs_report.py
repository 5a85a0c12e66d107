"""What a run of the ROCm Validation Suite says, module by module."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RvsGpu:
    """A GPU of the summary. Everywhere else RVS names it by its `gpu_id` (KFD) alone."""

    index: int
    gpu_id: int
    name: str
    bus_id: str

    def __str__(self) -> str:
        return f"GPU {self.index} ({self.bus_id})"


@dataclass(frozen=True)
class RvsAction:
    """A row of the summary. `passed` says that it ran: products below their target pass too."""

    name: str
    module: str
    passed: bool


@dataclass(frozen=True)
class RvsProducts:
    """GST on one GPU, in 1e9 operations a second. `best_gflops` is the best interval's.

    None where it never came to an end; `failure` is then what RVS says of it. `wrong_products`
    counts checks that differed from the product before, or from the CPU's.
    """

    action: str
    gpu_id: int
    intervals_gflops: tuple[float, ...]
    best_gflops: float | None
    target_gflops: float | None
    met: bool | None
    wrong_products: int
    failure: str | None

    @property
    def broke_off(self) -> bool:
        """Whether it computed, and then no longer."""
        return self.best_gflops is None and bool(self.intervals_gflops)


@dataclass(frozen=True)
class RvsPower:
    """IET on one GPU. `passed` is RVS's own verdict, None without one."""

    action: str
    gpu_id: int
    samples_w: tuple[float, ...]
    passed: bool | None


@dataclass(frozen=True)
class RvsStream:
    """One kernel of BABEL on one GPU: its best, in 1e9 bytes a second, read and written."""

    action: str
    gpu_id: int
    kernel: str
    gb_per_s: float


@dataclass(frozen=True)
class RvsTransfer:
    """PEBB (between CPU and GPU) or PBQT (between GPUs). Its ends are in RVS's own words.

    `printed_gbps` is None where nothing was transferred. RVS has divided by 2^30 and writes GBps.
    """

    action: str
    source: str
    target: str
    printed_gbps: float | None


@dataclass(frozen=True)
class RvsMemoryTest:
    """MEM: how often a test of memory passed and failed on all GPUs; RVS does not say on which."""

    action: str
    number: int
    passed: int
    failed: int


@dataclass(frozen=True)
class RvsReport:
    """A run that reached its summary. `errors` are RVS's own, `wrong_data` what BABEL read back."""

    version: str
    gpus: tuple[RvsGpu, ...]
    actions: tuple[RvsAction, ...]
    products: tuple[RvsProducts, ...]
    powers: tuple[RvsPower, ...]
    streams: tuple[RvsStream, ...]
    transfers: tuple[RvsTransfer, ...]
    memory_tests: tuple[RvsMemoryTest, ...]
    wrong_data: tuple[str, ...]
    errors: tuple[str, ...]

    def named(self, gpu_id: int) -> str:
        """Return a name by which an operator finds the GPU."""
        found = [str(gpu) for gpu in self.gpus if gpu.gpu_id == gpu_id]
        return found[0] if found else f"GPU {gpu_id}"
