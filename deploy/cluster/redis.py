"""The broker: a private Redis in which the hub may do everything and a site its own work only."""

import hashlib

from deploy import redis_acl
from deploy.cluster import ports, processes, service_files
from deploy.cluster.errors import ClusterError
from deploy.cluster.layout import Cluster, write_whole


def answers(cluster: Cluster) -> bool:
    try:
        return command(cluster, "PING") == "PONG\n"
    except ClusterError:
        return False


def start(cluster: Cluster) -> None:
    """Start Redis with what it held before, and wait until the hub's user may use it."""
    ports.require_free(cluster.ports.redis, owner="redis-server")
    home = cluster.services_directory / "redis"
    home.mkdir(mode=0o700, exist_ok=True)
    _write_users(cluster)
    write_whole(home / "redis.conf", _configuration(cluster), mode=0o600)
    daemon = processes.start(
        ["redis-server", f"{home}/redis.conf"], cluster, log="redis-server.log"
    )
    processes.await_ready("redis-server", lambda: answers(cluster), cluster, daemon=daemon)


def _write_users(cluster: Cluster) -> None:
    """Write the first users; Redis itself keeps the file from then on."""
    users = cluster.services_directory / "redis" / "users.acl"
    if users.exists():
        return
    password = service_files.credentials(cluster)["redis"]
    digest = hashlib.sha256(password.encode()).hexdigest()
    text = f"user default off\nuser {service_files.HUB} on #{digest} ~* &* +@all\n"
    write_whole(users, text, mode=0o600)


def _configuration(cluster: Cluster) -> str:
    home = cluster.services_directory / "redis"
    return (
        "bind 127.0.0.1\n"
        f"port {cluster.ports.redis}\n"
        f"unixsocket {cluster.run_directory}/redis.socket\n"
        "unixsocketperm 700\n"
        f"dir {home}\n"
        f"aclfile {home}/users.acl\n"
        'save ""\n'
        "appendonly yes\n"  # each write is with the kernel before its answer: kill -9 loses none
        "daemonize no\n"
    )


def command(cluster: Cluster, *words: str) -> str:
    """Run one Redis command as the hub's user and return the answer; errors are raised."""
    password = service_files.credentials(cluster)["redis"]
    socket = f"{cluster.run_directory}/redis.socket"
    client = ["redis-cli", "-e", "-s", socket, "--user", service_files.HUB, "--no-auth-warning"]
    return processes.run(
        [*client, *words], cluster, timeout_s=10, environment={"REDISCLI_AUTH": password}
    )


def allow_site(cluster: Cluster, site: str) -> str:
    """Make the site's Redis user, as often as asked, and return the URL its satellite uses."""
    password = service_files.site_password(service_files.credentials(cluster), site)
    try:
        redis_acl.allow_site(lambda *words: command(cluster, *words), site, password)
    except redis_acl.AclRefused as error:
        raise ClusterError(str(error)) from error
    command(cluster, "ACL", "SAVE")
    return service_files.redis_url(cluster, redis_acl.user_name(site), password)
