"""The runner on its way from the hub to the site: once per version, checked at each end."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Protocol

from burnin.slurm.cluster import Cluster

CHECKED_FOR_S = 600.0  # then it is looked for again: someone may have cleaned up work_dir


class BundleSource(Protocol):
    def bundle(self, sha256: str) -> bytes: ...


class BundleDepot:
    """Keeps the newest bundle's content; `clock` is monotonic, in seconds."""

    def __init__(
        self, source: BundleSource, cluster: Cluster, *, clock: Callable[[], float]
    ) -> None:
        self._source, self._cluster, self._clock = source, cluster, clock
        self._lock = threading.Lock()
        self._content: tuple[str, bytes] = ("", b"")
        self._checked_at: dict[str, float] = {}

    def ensure(self, name: str, sha256: str) -> None:
        """Return when the bundle stands at the site. Raises what hub or cluster raise."""
        with self._lock:
            now = self._clock()
            if now - self._checked_at.get(name, now - CHECKED_FOR_S) < CHECKED_FOR_S:
                return
            if self._content[0] != sha256:
                self._content = (sha256, self._source.bundle(sha256))
            self._cluster.deploy_bundle(name, self._content[1])
            self._checked_at = {name: now}
