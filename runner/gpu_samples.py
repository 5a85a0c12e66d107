"""nvidia-smi beside a workload on GPUs: temperature, power, clock and throttle reasons."""

from __future__ import annotations

from contextlib import contextmanager

from runner.contract.sampling import END_OF_SAMPLES, period_s

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.workspace import WorkspaceManager

# Newer drivers say clocks_event_reasons, and still take the old name; older ones know no other.
COLUMNS = "index,temperature.gpu,power.draw,clocks.sm,clocks_throttle_reasons.active"


@contextmanager
def sampling(workspace_manager: WorkspaceManager, duration_s: int) -> Iterator[None]:
    """Write gpu-samples.csv while the `with` lasts. Raises CannotRun without nvidia-smi."""
    samples = workspace_manager.get_custom_artifact_path("gpu-samples.csv")
    every = ["-l", str(period_s(duration_s))]
    asked = ["nvidia-smi", f"--query-gpu={COLUMNS}", "--format=csv", *every]
    with workspace_manager.start_command(asked, capture_to=samples):
        yield
    with samples.open("a", encoding="utf-8") as file:
        file.write(END_OF_SAMPLES)
