"""The object store: rclone's S3 server, which checks signatures and refuses strangers."""

import http.client
import shutil
import sys
from pathlib import Path

from deploy.cluster import ports, processes, service_files
from deploy.cluster.errors import ClusterError
from deploy.cluster.layout import Cluster

REPOSITORY = Path(__file__).resolve().parents[2]
BESIDE = (Path(sys.executable).parent, REPOSITORY / ".venv" / "bin")


def answers(cluster: Cluster) -> bool:
    """Return whether the server is there and lets nobody in who shows no signature."""
    connection = http.client.HTTPConnection("127.0.0.1", cluster.ports.s3, timeout=5)
    try:
        connection.request("GET", f"/{service_files.BUCKET}")
        return connection.getresponse().status in {400, 403}
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def start(cluster: Cluster) -> None:
    """Start the server on a directory in which each directory is a bucket."""
    ports.require_free(cluster.ports.s3, owner="rclone")
    data = cluster.services_directory / "s3"
    (data / service_files.BUCKET).mkdir(parents=True, exist_ok=True)
    serve = ["serve", "s3", "--config", "", "--addr", f"127.0.0.1:{cluster.ports.s3}", str(data)]
    known = service_files.credentials(cluster)
    # Without a key rclone serves everybody; it reads the variable as one line of CSV.
    keys = {"RCLONE_AUTH_KEY": f'"{known["s3_key_id"]},{known["s3_secret"]}"'}
    daemon = processes.start([_program(), *serve], cluster, log="rclone.log", environment=keys)
    processes.await_ready("rclone", lambda: answers(cluster), cluster, daemon=daemon)


def _program() -> str:
    """Return the rclone of the virtual environment: Debian's is too old to serve S3."""
    for directory in BESIDE:
        if (directory / "rclone").exists():
            return str(directory / "rclone")
    found = shutil.which("rclone")
    if found is None:
        raise ClusterError("rclone, the S3 server, is missing; `make venv` installs it")
    return found
