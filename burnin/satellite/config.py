"""A site's configuration: one TOML file that stays at the site."""

import tomllib
from pathlib import Path, PurePosixPath
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from burnin.slurm.client import SlurmClient
from burnin.slurm.shell import LocalShell, Shell, SshShell

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


class SiteConfig(BaseModel):
    """One Slurm cluster and its login host."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")
    work_dir: AbsolutePath = Field(description="Shared by login host and nodes.")
    facts_root: AbsolutePath = Field(default="/", description="%N: the Slurm node name.")
    node_path: str = Field(default=STANDARD_PATH, min_length=1, description="PATH on the nodes.")
    node_python: str = Field(default="python3", min_length=1)
    ssh: SshConfig | None = Field(default=None, description="Absent: commands run here.")
    environment: dict[str, str] = Field(default_factory=dict, description="For Slurm's commands.")


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
        raise BadSite(f"the site file {path} is wrong at {where}: {first['msg']}") from error


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
