"""A site's configuration: one TOML file that stays at the site."""

import stat
import tomllib
from pathlib import Path, PurePosixPath
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, ValidationError

from burnin.slurm.client import SlurmClient
from burnin.slurm.shell import LocalShell, Shell, SshShell

VERSION = "0.1.0"
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
STANDARD_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class BadSite(Exception):
    """The site's file is absent or wrong. Nothing was tried."""


def _absolute(path: str) -> str:
    if not PurePosixPath(path).is_absolute():
        raise ValueError("must be an absolute path")
    return path


AbsolutePath = Annotated[str, AfterValidator(_absolute)]


class SshConfig(BaseModel):
    """How the login host is reached. Its host key must already stand in `known_hosts`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    host: str = Field(min_length=1)
    port: int = Field(default=22, ge=1, le=65535)
    user: str = Field(min_length=1)
    key_file: Path
    known_hosts: Path


def _hub_url(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("must be the address of the hub's web, https://…")
    if parts.scheme == "http" and parts.hostname not in LOOPBACK:
        raise ValueError("must be https: the token would cross the network in the clear")
    return url.rstrip("/")


class HubConfig(BaseModel):
    """Where facts go. The token is read anew for each request, so it can be rotated in place."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    url: Annotated[str, AfterValidator(_hub_url)]
    token_file: Path
    ca_file: Path | None = Field(default=None, description="Trusted besides the system's CAs.")


class BrokerConfig(BaseModel):
    """Where orders come from: this site's own user, confined to this site's keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    url: SecretStr = Field(description="redis://site-NAME:PASSWORD@HOST:PORT/0, rediss or unix")
    ca_file: Path | None = Field(default=None, description="For rediss; else the system's CAs.")
    visibility_timeout_s: int = Field(
        default=1800, ge=1, description="After which an order of a dead satellite comes again."
    )
    concurrency: int = Field(default=4, ge=1, le=64, description="Orders carried out at once.")


class PaceConfig(BaseModel):
    """How often the cluster is looked at, in seconds."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    fast_s: float = Field(default=1.0, gt=0, description="Between looks while jobs move.")
    slow_s: float = Field(default=15.0, gt=0, description="Between looks when nothing moves.")
    nodes_s: float = Field(default=60.0, gt=0, description="Between two lists of the nodes.")
    # The hub asks after jobs that it has not heard of for a little longer than that.
    snapshot_s: float = Field(
        default=180.0, gt=0, le=180.0, description="Between two full reports."
    )
    heartbeat_s: float = Field(default=5.0, gt=0)


class SiteConfig(BaseModel):
    """One Slurm cluster and its login host."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")
    work_dir: AbsolutePath = Field(description="Shared by login host and nodes.")
    facts_root: AbsolutePath = Field(default="/", description="%N: the Slurm node name.")
    node_path: str = Field(default=STANDARD_PATH, min_length=1, description="PATH on the nodes.")
    node_python: str = Field(default="python3", min_length=1)
    containers: dict[str, str] = Field(
        default_factory=dict, description="Images by name; absent: tools come from node_path."
    )
    shared_storage: AbsolutePath | None = Field(
        default=None, description="What tests of shared storage may fill; absent: left out."
    )
    ssh: SshConfig | None = Field(default=None, description="Absent: commands run here.")
    environment: dict[str, str] = Field(default_factory=dict, description="For Slurm's commands.")
    hub: HubConfig | None = Field(default=None, description="A satellite needs it.")
    broker: BrokerConfig | None = Field(default=None, description="A satellite needs it.")
    pace: PaceConfig = Field(default_factory=PaceConfig)


def load_site(path: Path) -> SiteConfig:
    """Read a site's file.

    Raises:
        BadSite: it cannot be read, or a key is missing, unknown or wrong.
    """
    try:
        return SiteConfig.model_validate(tomllib.loads(path.read_text()))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadSite(f"the site file {path} cannot be read: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the file"
        raise BadSite(f"the site file {path} is wrong at {where}: {first['msg']}") from None


def load_satellite(path: Path) -> tuple[SiteConfig, HubConfig, BrokerConfig]:
    """Read a site's file as its satellite does: it also says where the hub and the queue are.

    Raises:
        BadSite: as `load_site`, or a section is missing, or others can read the token.
    """
    site = load_site(path)
    _refuse_public(path, "the site file")
    if site.ssh is not None:
        _refuse_public(site.ssh.key_file, "the SSH key")
    if site.hub is None or site.broker is None:
        missing = "hub" if site.hub is None else "broker"
        raise BadSite(f"the site file {path} has no [{missing}]: a satellite needs it")
    token_of(site.hub)
    return site, site.hub, site.broker


def _refuse_public(path: Path, what: str) -> None:
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise BadSite(f"{what} {path} cannot be read: {error}") from error
    if stat.S_IMODE(mode) & 0o077:
        raise BadSite(f"others can read {what} {path}: chmod 600 it")


def token_of(hub: HubConfig) -> str:
    """Return the site's token. Raises BadSite for an absent, empty or public file."""
    _refuse_public(hub.token_file, "the token file")
    try:
        token = hub.token_file.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise BadSite(f"the token file {hub.token_file} cannot be read: {error}") from error
    if not token or len(token.split()) != 1 or not token.isascii():
        raise BadSite(f"the token file {hub.token_file} does not hold one token: issue one")
    return token


def cluster_at(site: SiteConfig) -> SlurmClient:
    """Return the adapter for the site's cluster. Nothing is contacted yet."""
    return SlurmClient(_shell(site), work_dir=site.work_dir)


def _shell(site: SiteConfig) -> Shell:
    if site.ssh is None:
        return LocalShell(environment=site.environment)
    return SshShell(
        host=site.ssh.host,
        port=site.ssh.port,
        user=site.ssh.user,
        key_file=site.ssh.key_file,
        known_hosts=site.ssh.known_hosts,
        environment=site.environment,
    )
