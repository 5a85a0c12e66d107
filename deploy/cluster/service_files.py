"""The services' credentials, made once, and the files by which a hub finds the services."""

import hmac
import json
import os
import secrets
from typing import Any

from deploy.cluster.layout import Cluster, write_whole

BUCKET = "artifacts"
REGION = "us-east-1"
DATABASE = "fleet"
HUB = "hub"  # the hub's Redis user; the only one that may do everything


def write(cluster: Cluster) -> None:
    """Write services.json and hub.env. Only their owner can read them."""
    cluster.services_directory.mkdir(exist_ok=True)
    known = credentials(cluster)
    described = json.dumps(_described(cluster, known), indent=2) + "\n"
    write_whole(cluster.services_directory / "services.json", described, mode=0o600)
    lines = [f"{name}={value}\n" for name, value in environment(cluster, known).items()]
    write_whole(cluster.hub_env, "".join(lines), mode=0o600)


def credentials(cluster: Cluster) -> dict[str, str]:
    """Return the passwords and keys of this cluster; they stay the same until it is wiped."""
    file = cluster.services_directory / "credentials.json"
    if not file.exists():
        names = ("redis", "postgres", "s3_key_id", "s3_secret", "site_users", "django")
        made = {name: secrets.token_hex(24) for name in names}
        write_whole(file, json.dumps(made) + "\n", mode=0o600)
    found: dict[str, str] = json.loads(file.read_text())
    return found


def site_password(known: dict[str, str], site: str) -> str:
    """Return the password of a site's Redis user: the same each time it is asked for."""
    return hmac.new(known["site_users"].encode(), site.encode(), "sha256").hexdigest()


def redis_url(cluster: Cluster, user: str, password: str) -> str:
    return f"redis://{user}:{password}@127.0.0.1:{cluster.ports.redis}/0"


def s3_endpoint(cluster: Cluster) -> str:
    return f"http://127.0.0.1:{cluster.ports.s3}"


def _postgres_url(cluster: Cluster, known: dict[str, str]) -> str:
    address = f"127.0.0.1:{cluster.ports.postgres}"
    return f"postgres://{DATABASE}:{known['postgres']}@{address}/{DATABASE}"


def environment(cluster: Cluster, known: dict[str, str]) -> dict[str, str]:
    """Return the variables of a hub that uses these services."""
    return {
        "FLEET_DATABASE_URL": _postgres_url(cluster, known),
        "FLEET_BROKER_URL": redis_url(cluster, HUB, known["redis"]),
        "FLEET_SECRET_KEY": known["django"],
        "FLEET_ALLOWED_HOSTS": "127.0.0.1,localhost",
        "FLEET_PUBLIC_URL": "http://127.0.0.1:8000",
        "FLEET_STORE": f"s3://{BUCKET}",
        "FLEET_S3_ENDPOINT": s3_endpoint(cluster),
        "FLEET_S3_NODE_ENDPOINT": s3_endpoint(cluster),
        "FLEET_S3_REGION": REGION,
        "AWS_ACCESS_KEY_ID": known["s3_key_id"],
        "AWS_SECRET_ACCESS_KEY": known["s3_secret"],
    }


def _described(cluster: Cluster, known: dict[str, str]) -> dict[str, Any]:
    return {
        "redis_url": redis_url(cluster, HUB, known["redis"]),
        "redis_socket": str(cluster.run_directory / "redis.socket"),
        "postgres_url": _postgres_url(cluster, known),
        "s3": {
            "endpoint": s3_endpoint(cluster),
            "region": REGION,
            "bucket": BUCKET,
            "key_id": known["s3_key_id"],
            "secret": known["s3_secret"],
        },
    }


def runs_as_root() -> bool:
    return os.geteuid() == 0
