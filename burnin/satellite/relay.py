"""Brings artifacts to the store that the node could not upload itself."""

from __future__ import annotations

import http.client
import ssl
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import IO

from burnin.satellite.messages import Relayed, RelayOrder
from burnin.satellite.reach import CLUSTER_PROBLEMS, clip
from burnin.slurm.cluster import Cluster
from runner.contract import artifacts
from runner.contract.wire import AttemptToken

PART_BYTES = 8 << 20
UPLOAD_STALLS_AFTER_S = 60


class NotRelayed(Exception):
    """One artifact stayed at the site; the message says why, without its URL."""


Put = Callable[[IO[bytes], int, str], None]


def relay(cluster: Cluster, order: RelayOrder, *, put: Put) -> Relayed:
    """Upload what there is of the artifacts asked for, metadata.json last as the node does."""
    names, troubles = [], []
    for name in sorted(order.uploads, key=lambda name: name == artifacts.METADATA):
        try:
            if _relay_one(cluster, order.token, name, order.uploads[name], put):
                names.append(name)
        except (NotRelayed, *CLUSTER_PROBLEMS) as error:
            troubles.append(f"{name}: {error}")
    return Relayed(
        run_id=order.run_id,
        attempt=order.attempt,
        names=tuple(names),
        words=clip("; ".join(troubles)),
    )


def _relay_one(cluster: Cluster, token: AttemptToken, name: str, url: str, put: Put) -> bool:
    """Return whether there was something to upload."""
    if name not in artifacts.MAX_BYTES:
        raise NotRelayed("it is no artifact")
    with tempfile.TemporaryFile() as spool:
        size_bytes = _spool(cluster, token, name, spool)
        if size_bytes:
            spool.seek(0)
            put(spool, size_bytes, url)
        return size_bytes > 0


def _spool(cluster: Cluster, token: AttemptToken, name: str, spool: IO[bytes]) -> int:
    """Copy the file here, part by part, and return its size; its cap holds here too."""
    size_bytes, most = 0, artifacts.MAX_BYTES[name]
    while part := cluster.tail(token, name, offset=size_bytes, limit=PART_BYTES):
        size_bytes += len(part)
        if size_bytes > most:
            raise NotRelayed(f"it is larger than the {most} bytes allowed")
        spool.write(part)
    return size_bytes


class Uploader:
    """PUTs by HTTP with a known length: S3 stores nothing of a body without one."""

    def __init__(self, trust: ssl.SSLContext) -> None:
        handler = urllib.request.HTTPSHandler(context=trust)
        self._opener = urllib.request.build_opener(handler)

    def put(self, content: IO[bytes], size_bytes: int, url: str) -> None:
        """Raises NotRelayed."""
        headers = {"Content-Length": str(size_bytes), "Content-Type": "application/octet-stream"}
        try:
            request = urllib.request.Request(url, data=content, headers=headers, method="PUT")
            self._opener.open(request, timeout=UPLOAD_STALLS_AFTER_S).close()
        except urllib.error.HTTPError as error:
            with error:
                raise NotRelayed(f"the store answered {error.code}") from None
        except (OSError, http.client.HTTPException) as error:
            why = getattr(error, "reason", None) or error
            raise NotRelayed(f"the store did not answer: {why}") from None
        except ValueError:
            raise NotRelayed("its URL cannot be read") from None
