"""Picks the real adapters: sites, clusters, the store, the queues, the bells."""

import os
import time
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from burnin.runner_bundle import build_runner
from burnin.satellite.config import BadSite, SiteConfig, cluster_at, load_site
from burnin.slurm.cluster import Cluster
from burnin.storage.grants import GrantSigner
from burnin.storage.local import LocalStore
from burnin.storage.store import ArtifactStore
from burnin.workflow.bells import Bells
from burnin.workflow.celery_bells import CeleryBells
from burnin.workflow.render import Bundle
from burnin.workflow.site_queue import CelerySiteQueue, SiteQueue


class SystemClock:
    """The clock of this machine, in UTC."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


def named_site(name: str, *, sites_dir: Path) -> SiteConfig:
    """Return the site whose file is `<sites_dir>/<name>.toml`. Raises BadSite."""
    path = sites_dir / f"{name}.toml"
    if "/" in name or not path.is_file():
        known = ", ".join(sorted(each.stem for each in sites_dir.glob("*.toml"))) or "none"
        raise BadSite(
            f"there is no site {name!r:.60} in {sites_dir} (known: {known}): write {name}.toml "
            "there, or run `make cluster`, which writes the site `cluster`"
        )
    return load_site(path)


def own_site(name: str, *, sites_dir: Path) -> SiteConfig | None:
    """Return a site that is reached from here: its file is here and names no hub.

    None for any other, which then is a site of the hub. Raises BadSite for a file that is wrong.
    """
    if "/" in name or not (sites_dir / f"{name}.toml").is_file():
        return None
    site = named_site(name, sites_dir=sites_dir)
    return site if site.hub is None else None


def local_site(*, var_dir: Path) -> SiteConfig:
    """Return this machine as a site: the Slurm of SLURM_CONF, else `make cluster`'s.

    Raises:
        BadSite: neither is there.
    """
    if slurm_conf := os.environ.get("SLURM_CONF"):
        if not Path(slurm_conf).is_file():
            raise BadSite(
                f"SLURM_CONF names {slurm_conf}, which is not there: set it to your slurm.conf, "
                "or unset it to use `make cluster`'s"
            )
        return SiteConfig(
            name="local",
            work_dir=str(var_dir.resolve() / "work"),
            environment={"SLURM_CONF": slurm_conf},
        )
    path = var_dir / "cluster" / "local.toml"
    if not path.is_file():
        raise BadSite(
            "there is no Slurm to use on this machine: set SLURM_CONF to your slurm.conf, "
            "or run `make cluster` for a private one"
        )
    return load_site(path)


def cluster(site: SiteConfig) -> Cluster:
    """Return the site's real cluster."""
    return cluster_at(site)


def bundle(*, build_dir: Path) -> Bundle:
    """Build the runner as it stands in this tree and return it."""
    built = build_runner(build_dir)
    return Bundle(built.path.name, built.sha256, built.path.read_bytes())


@cache
def hub_bundle() -> Bundle:
    """Return the runner that this process sends out; satellites fetch it from VAR_DIR/bundles."""
    return bundle(build_dir=settings.VAR_DIR / "bundles")


@cache
def site_queue() -> SiteQueue:
    return CelerySiteQueue(settings.BROKER_URL)


@cache
def bells() -> Bells:
    return CeleryBells()


def store() -> ArtifactStore:
    """Return the store that FLEET_STORE names: `local:/abs/dir` or `s3://bucket`."""
    scheme, _, place = settings.STORE.partition(":")
    if scheme == "local" and Path(place).is_absolute():
        retired = tuple(settings.SECRET_KEY_FALLBACKS)
        signer = GrantSigner(settings.SECRET_KEY, retired=retired)
        return LocalStore(Path(place), public_url=settings.PUBLIC_URL, signer=signer)
    if scheme == "s3" and place.strip("/"):
        return _s3_store(
            bucket=place.strip("/"),
            region=settings.S3_REGION,
            endpoint=settings.S3_ENDPOINT,
            node_endpoint=settings.S3_NODE_ENDPOINT,
            key_id=settings.AWS_ACCESS_KEY_ID,
            secret=settings.AWS_SECRET_ACCESS_KEY,
        )
    raise ImproperlyConfigured(
        f"FLEET_STORE is {settings.STORE!r}: set it to local:/absolute/directory or s3://bucket"
    )


@cache
def _s3_store(**config: str) -> ArtifactStore:
    from burnin.storage.s3 import S3Config, S3Store  # boto3 is a quarter second of every start

    return S3Store(S3Config(**config))


def bundle_file(sha256: str) -> Path | None:
    """Return the runner with this digest, None if neither kept here nor this version's own."""
    kept = settings.VAR_DIR / "bundles" / f"runner-{sha256}.pyz"
    if not kept.is_file():
        hub_bundle()  # the worker that ordered it may build on another host
    return kept if kept.is_file() else None
