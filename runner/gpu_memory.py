"""How much memory the node's GPUs have, as the maker's own tool says outside any container."""

from __future__ import annotations

import json

from runner.endings import CannotRun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.workspace import WorkspaceManager

MIB = 1 << 20
ASK_S = 60
NVIDIA_SMI = ("nvidia-smi", "--query-gpu=memory.total", "--format=csv,noheader,nounits")
ROCM_SMI = ("rocm-smi", "--showmeminfo", "vram", "--json")


def memory_of_nvidia_gpus(workspace_manager: WorkspaceManager, gpu_count: int) -> int:
    """Return the bytes of the smallest GPU times their number."""
    said = _ask(workspace_manager, NVIDIA_SMI)
    sizes = [int(line) * MIB for line in said.split() if line.isdecimal()]
    return _all_alike(sizes, gpu_count, said)


def memory_of_amd_gpus(workspace_manager: WorkspaceManager, gpu_count: int) -> int:
    """Return the bytes of the smallest GPU times their number."""
    said = _ask(workspace_manager, ROCM_SMI)
    try:
        cards = [card["VRAM Total Memory (B)"] for card in json.loads(said).values()]
        sizes = [int(size) for size in cards]
    except (ValueError, KeyError, TypeError, AttributeError):
        sizes = []
    return _all_alike(sizes, gpu_count, said)


def _ask(workspace_manager: WorkspaceManager, argv: tuple[str, ...]) -> str:
    answer = workspace_manager.get_custom_artifact_path("gpu-memory.txt")
    workspace_manager.run_command(argv, timeout_s=ASK_S, capture_to=answer)
    return answer.read_text(encoding="utf-8", errors="replace")


def _all_alike(sizes: list[int], gpu_count: int, said: str) -> int:
    if len(sizes) != gpu_count or not all(size > 0 for size in sizes):
        raise CannotRun(
            f"the memory of {len(sizes)} GPUs could be read, the job was given {gpu_count}:"
            f" {said.strip()[:200] or 'no answer'}"
        )
    return min(sizes) * gpu_count
