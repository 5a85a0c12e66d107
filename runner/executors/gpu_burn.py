"""gpu-burn on every GPU of the node at once, with nvidia-smi sampling beside it; on AMD RVS."""

from __future__ import annotations

from runner.base import BaseRunner
from runner.contract.sampling import rvs_period_ms
from runner.contract.slugs import Slugs
from runner.gpu_samples import sampling
from runner.gpu_tools import GpuNode, run_tool
from runner.rocm import run_rvs_actions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.contract.wire import ExecutionContext
    from runner.rocm import Action
    from runner.workspace import WorkspaceManager

SETTLE_S = 300  # it fills 90 % of the memory of every GPU first, and takes half a minute to end

# It looks for compare.ptx where it is started, and its image has it outside PATH. Words such as
# "-d" or "-h" anywhere in an option's path would be read as options: so no path is given to it.
# That its last client died stands on stderr only.
BURN = (
    "tool=$(PATH=$PATH:. command -v gpu_burn) || { echo gpu_burn is not installed >&2; exit 127; };"
    ' tool=$(readlink -f "$tool"); cd "${tool%/*}" && exec "$tool" -tc "$0" 2>&1'
)

AMD_PROOF_S = 10


class GpuBurn(BaseRunner):
    slug = Slugs.GPU_BURN
    reads = frozenset({"duration_s"})

    def execute(self, context: ExecutionContext, workspace_manager: WorkspaceManager) -> None:
        duration_s = int(context.params["duration_s"])
        node = GpuNode()
        node.write(workspace_manager)
        burn = _by_rvs if node.has_amd_gpus else _by_gpu_burn
        burn(node, workspace_manager, duration_s)


def _by_gpu_burn(node: GpuNode, workspace_manager: WorkspaceManager, duration_s: int) -> None:
    with sampling(workspace_manager, duration_s):
        run_tool(
            workspace_manager,
            node.once("sh", "-c", BURN, str(duration_s)),
            report=workspace_manager.get_custom_artifact_path("gpu-burn.txt"),
            end_marks=("\nTested ", "No clients are alive"),
            timeout_s=duration_s + SETTLE_S,
            # nvidia-smi counts GPUs by their bus, and so shall gpu-burn
            env={"CUDA_DEVICE_ORDER": "PCI_BUS_ID"},
        )


def _by_rvs(node: GpuNode, workspace_manager: WorkspaceManager, duration_s: int) -> None:
    run_rvs_actions(node, workspace_manager, rvs_burn(duration_s), timeout_s=duration_s + SETTLE_S)


def rvs_burn(duration_s: int) -> list[Action]:
    """Return what RVS does: prove that it sees wrong products, burn with checks, then for power.

    An RVS that does not know `self_check` passes over it, and would call any product right: so
    errors are injected first, and must be found. The products are those of
    rvs/conf/MI300X/gst_selfcheck.conf and gst_single.conf, the power that of iet_stress.conf.
    """
    half_ms = duration_s * 500
    return [
        {**_checked(3072), "name": "proof", "duration": AMD_PROOF_S * 1000, "hot_calls": 1,
         "error_inject": True, "error_freq": 2, "error_count": 1},
        {**_checked(8192), "name": "burn", "duration": half_ms, "hot_calls": 10,
         "log_interval": rvs_period_ms(half_ms)},
        {**POWER, "duration": half_ms, "sample_interval": rvs_period_ms(half_ms)},
    ]  # fmt: skip


def _checked(size: int) -> Action:
    return {
        "module": "gst",
        "parallel": True,
        "log_interval": 3000,
        "ramp_interval": 5000,
        "copy_matrix": False,
        "target_stress": 0,
        "matrix_size_a": size,
        "matrix_size_b": size,
        "matrix_size_c": size,
        "matrix_init": "rand",
        "ops_type": "dgemm",
        "lda": size,
        "ldb": size,
        "ldc": size,
        "transa": 1,
        "transb": 0,
        "alpha": 1,
        "beta": 0,  # with another the product would change from one to the next
        "self_check": True,
    }


POWER: Action = {
    "name": "power",
    "module": "iet",
    "parallel": True,
    "ramp_interval": 10000,
    "log_interval": 5000,
    "target_power": 750,
    "matrix_size": 28000,
    "ops_type": "dgemm",
    "lda": 28000,
    "ldb": 28000,
    "ldc": 28000,
    "alpha": 1,
    "beta": 1,
    "matrix_init": "hiprand",
}
