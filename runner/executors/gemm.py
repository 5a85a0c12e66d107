"""gpu-fryer on every GPU of the node at once, for a minute; on AMD the products of RVS."""

from __future__ import annotations

from runner.base import BaseRunner
from runner.contract.slugs import Slugs
from runner.gpu_tools import GpuNode, run_tool
from runner.rocm import run_rvs_actions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.contract.wire import ExecutionContext
    from runner.rocm import Action
    from runner.workspace import WorkspaceManager

DURATION_S = 60
SETTLE_S = 300
# The name alone lets the loader find it: distributions keep it in different directories.
NVML = "libnvidia-ml.so.1"
END_MARKS = ("\nAll GPUs seem healthy", "\nSome GPUs are not healthy")

# compute-bf16-trig of AMD's rvs/conf/MI300X/levels, for a minute. The limit is the hub's: any
# speed meets a target of 0.
AMD_PRODUCTS: Action = {
    "name": "gemm-bf16",
    "module": "gst",
    "parallel": True,
    "log_interval": 3000,
    "ramp_interval": 5000,
    "duration": DURATION_S * 1000,
    "hot_calls": 1000,
    "copy_matrix": False,
    "target_stress": 0,
    "matrix_size_a": 4864,
    "matrix_size_b": 4096,
    "matrix_size_c": 8192,
    "matrix_init": "trig",
    "data_type": "bf16_r",
    "lda": 8320,
    "ldb": 8320,
    "ldc": 4992,
    "ldd": 4992,
    "transa": 1,
    "transb": 0,
    "alpha": 1,
    "beta": 0,
}


class Gemm(BaseRunner):
    slug = Slugs.GEMM
    reads = frozenset()

    def execute(self, context: ExecutionContext, workspace_manager: WorkspaceManager) -> None:
        node = GpuNode()
        node.write(workspace_manager)
        multiply = _by_rvs if node.has_amd_gpus else _by_gpu_fryer
        multiply(node, workspace_manager)


def _by_gpu_fryer(node: GpuNode, workspace_manager: WorkspaceManager) -> None:
    run_tool(
        workspace_manager,
        node.once("gpu-fryer", "--use-bf16", "--nvml-lib-path", NVML, str(DURATION_S)),
        report=workspace_manager.get_custom_artifact_path("gpu-fryer.txt"),
        end_marks=END_MARKS,
        timeout_s=DURATION_S + SETTLE_S,
    )


def _by_rvs(node: GpuNode, workspace_manager: WorkspaceManager) -> None:
    run_rvs_actions(node, workspace_manager, [AMD_PRODUCTS], timeout_s=DURATION_S + SETTLE_S)
