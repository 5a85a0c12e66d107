"""Where everything of a one-machine installation lies, and the environments of its processes."""

import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from deploy.cluster.layout import Cluster, write_whole

ROOT = Path(__file__).resolve().parents[2]
SITE = "one-machine"
LOGIN_NAME = "operator"
MARK = "FLEET_ONE_MACHINE"  # in the environment of every process of one start
JOB_MARK = "SLURM_ONE_MACHINE"  # jobs keep nothing of their submitter but what Slurm sets
KEPT_VARIABLES = ("PATH", "HOME", "USER", "LANG", "TMPDIR")


@dataclass(frozen=True)
class Place:
    """One installation: its directory, its Slurm, and the port of its web."""

    directory: Path
    cluster: Cluster
    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def var_directory(self) -> Path:
        return self.directory / "hub"

    @property
    def log_directory(self) -> Path:
        return self.directory / "log"

    @property
    def site_file(self) -> Path:
        return self.var_directory / "sites" / f"{SITE}.toml"

    @property
    def site_token_file(self) -> Path:
        return self.directory / "site-token"

    @property
    def password_file(self) -> Path:
        return self.directory / "password"

    @property
    def hub_env(self) -> Path:
        return self.directory / "hub.env"

    @property
    def redis_socket(self) -> Path:
        """Lies beside the cluster's sockets: that path is always short enough."""
        return self.cluster.run_directory / "redis.socket"

    @property
    def hub_settings(self) -> dict[str, str]:
        return {
            "FLEET_VAR_DIR": str(self.var_directory),
            "FLEET_PUBLIC_URL": self.url,
            "FLEET_BROKER_URL": f"redis+socket://{self.redis_socket}",
            "FLEET_STORE": f"local:{self.var_directory / 'store'}",
        }

    def environment(self, **own: str) -> dict[str, str]:
        """Return what a process of ours sees: its own, the mark, and little of the caller's."""
        kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
        return {**kept, **dict(self.cluster.marks), "PYTHONUNBUFFERED": "1", **own}

    @property
    def hub_environment(self) -> dict[str, str]:
        return self.environment(DJANGO_SETTINGS_MODULE="fleet.settings", **self.hub_settings)

    def write(self) -> None:
        """Make the directories, and the files by which satellite and command line find the hub."""
        self.cluster.run_directory.mkdir(mode=0o755, exist_ok=True)
        for directory in (self.log_directory, self.site_file.parent, self.directory / "redis"):
            directory.mkdir(parents=True, exist_ok=True)
        lines = [f"{name}={value}\n" for name, value in self.hub_settings.items()]
        write_whole(self.hub_env, "".join(lines), mode=0o600)
        write_whole(self.site_file, self._site(), mode=0o600)

    def _site(self) -> str:
        return (
            f'name = "{SITE}"\n'
            f'work_dir = "{self.cluster.work_dir}"\n'
            f'node_path = "{self.cluster.environment["PATH"]}"\n'
            f'\n[environment]\nSLURM_CONF = "{self.cluster.slurm_conf}"\n'
            f'\n[hub]\nurl = "{self.url}"\ntoken_file = "{self.site_token_file}"\n'
            f'\n[broker]\nurl = "redis+socket://{self.redis_socket}"\n'
            "\n[pace]\nslow_s = 1.0\n"  # whoever sits here waits, and one node is soon looked at
        )

    def password(self) -> str:
        """Return the operator's first password, made once; only we can read its file."""
        if not self.password_file.exists():
            write_whole(self.password_file, secrets.token_urlsafe(12) + "\n", mode=0o600)
        return self.password_file.read_text().strip()
