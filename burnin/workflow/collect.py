"""Bring an attempt's files from the site to a directory here."""

import io
import tarfile
from pathlib import Path

from burnin.hardware_tests.unpack import TornArtifact
from burnin.slurm.cluster import Cluster
from runner.contract import artifacts as contract
from runner.contract.wire import AttemptToken


def collect(cluster: Cluster, token: AttemptToken, destination: Path) -> Path:
    """Write what the attempt left behind below `destination` and return that directory.

    Only the contract's names are taken, none larger than its cap. Raises ClusterUnreachable or
    TornArtifact.
    """
    directory = destination / token.directory
    directory.mkdir(parents=True, exist_ok=True)
    try:
        with tarfile.open(fileobj=io.BytesIO(cluster.fetch(token))) as archive:
            for member in archive:
                _write(archive, member, directory)
    except tarfile.TarError as error:
        raise TornArtifact(f"what the site sent of {token.comment} is torn: {error}") from error
    return directory


def _write(archive: tarfile.TarFile, member: tarfile.TarInfo, directory: Path) -> None:
    cap = contract.MAX_BYTES.get(member.name)
    if cap is None or not member.isreg() or member.size > cap:
        raise TornArtifact(f"the site sent {member.name!r:.80}, which is no artifact or too large")
    content = archive.extractfile(member)
    assert content is not None  # a regular member always has content
    (directory / member.name).write_bytes(content.read())
