"""How often the node looks at its GPUs beside a workload; by that the hub knows what is missing."""

from __future__ import annotations

SIX_HOURS_S = 6 * 3600
END_OF_SAMPLES = "\nend of samples\n"  # the tool that samples has no end mark: we end it


def period_s(duration_s: int) -> int:
    """Return seconds between two samples: three days of eight GPUs still fit into one artifact."""
    return 1 if duration_s <= SIX_HOURS_S else 10


def rvs_period_ms(duration_ms: int) -> int:
    """Return milliseconds between two numbers of RVS: some hundreds of each GPU at most."""
    return max(5000, duration_ms // 200)
