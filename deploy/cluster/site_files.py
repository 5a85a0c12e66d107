"""The two site files by which everything else finds this cluster: over SSH, and on this host."""

from deploy.cluster.layout import Cluster, write_whole
from deploy.cluster.slurm_conf import user_name


def write(cluster: Cluster) -> None:
    """Write site.toml and local.toml, and the work_dir they name."""
    cluster.work_dir.mkdir(exist_ok=True)
    if cluster.options.login:
        over_ssh = _common(cluster) + _ssh(cluster) + _end(cluster)
        write_whole(cluster.directory / "site.toml", over_ssh)
    write_whole(cluster.directory / "local.toml", _common(cluster) + _end(cluster))


def _common(cluster: Cluster) -> str:
    facts_root = f"{cluster.roots_directory}/%N" if cluster.options.node_roots else "/"
    return (
        'name = "cluster"\n'
        f'work_dir = "{cluster.work_dir}"\n'
        f'facts_root = "{facts_root}"\n'
        f'node_path = "{cluster.environment["PATH"]}"\n'
        'node_python = "python3"\n'
    )


def _ssh(cluster: Cluster) -> str:
    home = cluster.ssh_directory
    return (
        "\n[ssh]\n"
        'host = "127.0.0.1"\n'
        f"port = {cluster.ports.sshd}\n"
        f'user = "{user_name()}"\n'
        f'key_file = "{home}/user_key"\n'
        f'known_hosts = "{home}/known_hosts"\n'
    )


def _end(cluster: Cluster) -> str:
    return f'\n[environment]\nSLURM_CONF = "{cluster.slurm_conf}"\n'
