"""Every check of node-health as an operator reads it: broken parts first, settings last."""

from __future__ import annotations

from pydantic import Field

from burnin.hardware_tests.metrics import BaseMetrics, Better, MetricUnit, MetricValue, metric
from burnin.hardware_tests.thresholds.schema import GenericThresholds


class NodeHealthMetrics(BaseMetrics):
    """In operator order. None: nobody asked for the check, or it could not be read."""

    kernel_errors: int | None = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="Kernel errors since start"
    )
    fault_xids: int | None = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="Xids that accuse a GPU"
    )
    fatal_sxids: int | None = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="Fatal NVSwitch errors"
    )
    machine_checks: int | None = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="Machine checks that were not corrected"
    )
    io_errors: int | None = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="I/O errors in the kernel log"
    )
    smi_responds: int | None = metric(
        MetricUnit.COUNT, better=Better.EXACT, label="nvidia-smi answers"
    )
    gpu_count: int | None = metric(MetricUnit.COUNT, better=Better.EXACT, label="GPUs")
    rocm_gpu_count: int | None = metric(MetricUnit.COUNT, better=Better.EXACT, label="GPUs of AMD")
    uncorrected_ecc_errors: int | None = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="Worst GPU, uncorrected ECC errors"
    )
    new_uncorrected_ecc_errors: int | None = metric(
        MetricUnit.COUNT,
        better=Better.LOWER,
        label="Worst GPU, uncorrected ECC errors during the run",
    )
    rocm_uncorrected_errors: int | None = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="Worst GPU of AMD, uncorrected errors"
    )
    rocm_bad_pages: int | None = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="Worst GPU of AMD, bad pages"
    )
    failed_row_remaps: int | None = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="GPUs with a failed row remap"
    )
    pending_row_remaps: int | None = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="GPUs with a pending row remap"
    )
    pending_page_retirements: int | None = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="GPUs with a pending page retirement"
    )
    retired_pages: int | None = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="Worst GPU, retired pages"
    )
    remapped_rows: int | None = metric(
        MetricUnit.COUNT,
        better=Better.LOWER,
        label="Worst GPU, rows remapped for uncorrected errors",
    )
    corrected_ecc_errors: int | None = metric(
        MetricUnit.COUNT,
        better=Better.LOWER,
        label="Worst GPU, corrected ECC errors",
        plausible=(1e5, 9e7),
    )
    new_corrected_ecc_errors: int | None = metric(
        MetricUnit.COUNT,
        better=Better.LOWER,
        label="Worst GPU, corrected ECC errors during the run",
        plausible=(1e5, 9e7),
    )
    corrupt_inforoms: int | None = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="GPUs with a corrupt infoROM"
    )
    gpus_without_ecc: int | None = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="GPUs without ECC"
    )
    active_nvlinks: int | None = metric(
        MetricUnit.COUNT, better=Better.EXACT, label="Active NVLinks of the worst GPU"
    )
    nvlink_speed: MetricValue = metric(
        MetricUnit.GB_S, better=Better.HIGHER, label="Slowest NVLink", plausible=(5, 500)
    )
    nvlink_errors: int | None = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="Worst NVLink, errors"
    )
    unlinked_gpu_pairs: int | None = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="Pairs of GPUs without NVLink"
    )
    distant_gpus: int | None = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="GPUs without an adapter at their PCIe switch"
    )
    gpus_off_fabric: int | None = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="GPUs that are not in the fabric"
    )
    fabric_manager: int | None = metric(
        MetricUnit.COUNT, better=Better.EXACT, label="Fabric manager runs"
    )
    imex_nodes_not_ready: int | None = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="Nodes of the IMEX domain that are not ready"
    )
    pcie_width: int | None = metric(
        MetricUnit.COUNT, better=Better.EXACT, label="Narrowest GPU link, lanes"
    )
    pcie_generation: int | None = metric(
        MetricUnit.COUNT, better=Better.EXACT, label="Slowest GPU link, PCIe generation"
    )
    narrow_pcie_links: int | None = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="PCIe links with too few lanes"
    )
    slow_pcie_links: int | None = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="PCIe links below their speed"
    )
    limited_pcie_links: int | None = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="PCIe links that the kernel found slow at boot"
    )
    new_pcie_replays: int | None = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="Worst GPU, PCIe replays during the run"
    )
    gpu_temperature: MetricValue = metric(
        MetricUnit.CELSIUS, better=Better.LOWER, label="Hottest GPU"
    )
    rocm_temperature: MetricValue = metric(
        MetricUnit.CELSIUS, better=Better.LOWER, label="Hottest GPU of AMD"
    )
    throttled_gpus: int | None = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="GPUs that are slowed down"
    )
    gpu_processes: int | None = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="Foreign processes on a GPU"
    )
    active_rdma_ports: int | None = metric(
        MetricUnit.COUNT, better=Better.HIGHER, label="RDMA ports that are up"
    )
    down_rdma_ports: int | None = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="RDMA ports that are not up"
    )
    slowest_rdma_port: MetricValue = metric(
        MetricUnit.GBPS, better=Better.HIGHER, label="Slowest RDMA port", plausible=(10, 9000)
    )
    new_rdma_errors: int | None = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="Worst RDMA counter, errors during the run"
    )
    weak_rdma_ports: int | None = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="RDMA ports with a weak signal"
    )
    unauthenticated_ports: int | None = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="Ports that the switch has not let in"
    )
    down_network_links: int | None = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="Network links that are down"
    )
    link_flaps: int | None = metric(
        MetricUnit.COUNT,
        better=Better.LOWER,
        label="Worst network link, lost carriers during the run",
    )
    lost_carriers: int | None = metric(
        MetricUnit.COUNT,
        better=Better.LOWER,
        label="Worst network link, lost carriers in 24 h",
    )
    slowest_network_link: MetricValue = metric(
        MetricUnit.GBPS, better=Better.HIGHER, label="Slowest network link", plausible=(1, 900)
    )
    uncorrected_memory_errors: int | None = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="Uncorrected memory errors since boot"
    )
    new_corrected_memory_errors: int | None = metric(
        MetricUnit.COUNT,
        better=Better.LOWER,
        label="Worst controller, corrected memory errors during the run",
    )
    unwritable_filesystems: int | None = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="Filesystems that cannot be written"
    )
    unmounted_filesystems: int | None = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="Filesystems that are not mounted"
    )
    disk_space: MetricValue = metric(
        MetricUnit.PERCENT, better=Better.HIGHER, label="Fullest filesystem, free space"
    )
    degraded_arrays: int | None = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="Disk arrays that lost a member"
    )
    failing_drives: int | None = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="NVMe drives that call themselves bad"
    )
    nvme_count: int | None = metric(
        MetricUnit.COUNT, better=Better.EXACT, label="NVMe drives that are live"
    )
    clock_offset: MetricValue = metric(
        MetricUnit.MILLISECONDS,
        better=Better.LOWER,
        label="Clock offset against the login host",
        plausible=(1, 900),
    )
    time_offset: MetricValue = metric(
        MetricUnit.MILLISECONDS,
        better=Better.LOWER,
        label="Clock offset against the time server",
        plausible=(0.01, 9),
    )
    event_log_faults: int | None = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="Faults in the board's event log"
    )
    failed_sensors: int | None = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="Sensors out of range"
    )
    slurm_complaints: int | None = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="States that Slurm holds against the node"
    )
    missing_modules: int | None = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="Kernel modules that are missing"
    )
    unexpected_components: int | None = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="Components unlike the golden ones"
    )
    memory_size: MetricValue = metric(
        MetricUnit.GIB, better=Better.HIGHER, label="Memory", plausible=(16, 15_000)
    )
    dimm_count: int | None = metric(MetricUnit.COUNT, better=Better.EXACT, label="Memory modules")
    cpu_count: int | None = metric(MetricUnit.COUNT, better=Better.EXACT, label="CPUs")
    cpu_sockets: int | None = metric(MetricUnit.COUNT, better=Better.EXACT, label="CPU sockets")
    cpu_cores: int | None = metric(MetricUnit.COUNT, better=Better.EXACT, label="CPU cores")
    threads_per_core: int | None = metric(
        MetricUnit.COUNT, better=Better.EXACT, label="Threads of a CPU core"
    )
    shared_memory: MetricValue = metric(
        MetricUnit.GIB, better=Better.HIGHER, label="Shared memory", plausible=(1, 900)
    )
    bios_versions: int | None = metric(MetricUnit.COUNT, better=Better.EXACT, label="BIOS versions")
    bmc_versions: int | None = metric(
        MetricUnit.COUNT, better=Better.EXACT, label="Firmware versions of the board's controller"
    )
    kernel_versions: int | None = metric(
        MetricUnit.COUNT, better=Better.EXACT, label="Kernel versions"
    )
    driver_versions: int | None = metric(
        MetricUnit.COUNT, better=Better.EXACT, label="GPU driver versions"
    )
    vbios_versions: int | None = metric(
        MetricUnit.COUNT, better=Better.EXACT, label="Different GPU VBIOS versions"
    )
    hca_firmware_versions: int | None = metric(
        MetricUnit.COUNT, better=Better.EXACT, label="Different firmware of one adapter model"
    )
    ofed_versions: int | None = metric(MetricUnit.COUNT, better=Better.EXACT, label="OFED versions")
    drive_firmware_versions: int | None = metric(
        MetricUnit.COUNT, better=Better.EXACT, label="Different firmware of one drive model"
    )
    topologies: int | None = metric(
        MetricUnit.COUNT, better=Better.EXACT, label="Topology of GPUs and adapters"
    )
    gpus_without_persistence: int | None = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="GPUs without persistence mode"
    )
    lowered_application_clocks: int | None = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="GPUs whose application clocks are lowered"
    )
    application_clock: MetricValue = metric(
        MetricUnit.MHZ,
        better=Better.HIGHER,
        label="Slowest GPU, application clock",
        plausible=(100, 9000),
    )
    application_memory_clock: MetricValue = metric(
        MetricUnit.MHZ,
        better=Better.HIGHER,
        label="Slowest GPU, application clock of its memory",
        plausible=(100, 20_000),
    )
    application_xids: int | None = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="Xids that an application can cause"
    )
    recorded_machine_checks: int | None = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="Machine checks that rasdaemon has kept"
    )
    cpu_clock: MetricValue = metric(
        MetricUnit.MHZ, better=Better.HIGHER, label="Mean clock of the CPUs", plausible=(100, 9000)
    )
    unsteady_cpus: int | None = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="CPUs that save power"
    )
    odd_clock_source: int | None = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="The kernel's clock is slow to read"
    )
    swap_devices: int | None = metric(MetricUnit.COUNT, better=Better.LOWER, label="Swap devices")
    numa_balancing: int | None = metric(
        MetricUnit.COUNT, better=Better.EXACT, label="Automatic NUMA balancing"
    )
    limited_locked_memory: int | None = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="Locked memory is limited"
    )
    stuck_processes: int | None = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="Stuck processes"
    )
    access_control_bridges: int | None = metric(
        MetricUnit.COUNT, better=Better.EXACT, label="PCIe bridges that check sources"
    )
    iommu_groups: int | None = metric(
        MetricUnit.COUNT,
        better=Better.EXACT,
        label="Groups of devices that an IOMMU translates for",
    )
    unrelaxed_devices: int | None = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="Adapters without relaxed ordering"
    )
    smallest_frame: int | None = metric(
        MetricUnit.COUNT, better=Better.HIGHER, label="Smallest MTU of a network link, bytes"
    )
    large_free_blocks: int | None = metric(
        MetricUnit.COUNT, better=Better.HIGHER, label="Free blocks of memory for huge pages"
    )
    uptime: MetricValue = metric(
        MetricUnit.SECONDS, better=Better.HIGHER, label="Time since boot", plausible=(60, 50_000)
    )
    reboots: int | None = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="Boots in the last 24 h"
    )
    unread_checks: int | None = metric(MetricUnit.COUNT, label="Checks that could not be read")


class NodeHealthThresholds(GenericThresholds):
    """Limits in each metric's unit, one for each metric. The values are in thresholds.yaml."""

    disk_space: float = Field(gt=0, lt=100)
    clock_offset: float = Field(gt=0)
    memory_size: float = Field(gt=0)
