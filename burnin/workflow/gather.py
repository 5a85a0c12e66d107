"""Brings one attempt's artifacts from the store: what is judged is what is kept."""

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from burnin.hardware_tests.artifacts import WrongAttempt, read_metadata_of
from burnin.hardware_tests.metadata import HardwareTestMetadata
from burnin.hardware_tests.unpack import TornArtifact
from burnin.storage.store import (
    ArtifactStore,
    ObjectMissing,
    ObjectTooLarge,
    incoming_directory,
    incoming_key,
    kept_key,
)
from burnin.workflow.scratch import Scratch
from runner.contract import artifacts as contract
from runner.contract.wire import AttemptToken


@dataclass(frozen=True)
class KeptArtifact:
    """A copy that no node can write, and its content as it was judged."""

    name: str
    key: str
    size_bytes: int
    sha256: str


@dataclass(frozen=True)
class Gathered:
    """What came: `missing` is what the attempt should have left and has not (yet).

    `refusal` says what is wrong with what came; then nothing of it may be judged.
    """

    directory: Path
    kept: tuple[KeptArtifact, ...]
    metadata: HardwareTestMetadata | None
    missing: tuple[str, ...]
    refusal: str


def gather(
    store: ArtifactStore,
    site_name: str,
    token: AttemptToken,
    scratch: Scratch,
    *,
    may_wait: bool = False,
) -> Gathered:
    """Copy the attempt's objects to keys of ours and fetch those copies.

    A node can rewrite its own objects until their URLs expire: so the copy is what is read.
    Where something is missing that `may_wait`, no more than the metadata is taken.
    Raises StoreUnreachable or StoreRefused.
    """
    there, refusal = _sizes(store, site_name, token)
    directory = scratch.directory(token.directory, sum(there.values()))
    courier = secrets.token_hex(4)
    kept: list[KeptArtifact] = []
    metadata, expected = None, set(contract.MAX_BYTES)  # without it, anything may be on its way
    try:
        if contract.METADATA in there:
            kept.append(_keep(store, site_name, token, courier, directory / contract.METADATA))
            metadata, expected = _last_word(token, directory)
        if not may_wait or expected <= set(there):
            for name in sorted(set(there) - {contract.METADATA}):
                kept.append(_keep(store, site_name, token, courier, directory / name))
    except ObjectMissing as error:
        refusal = refusal or f"an artifact vanished while it was collected: {error}"
    except ObjectTooLarge as error:
        refusal = refusal or f"an artifact is larger than it may be: {error}"
    return Gathered(directory, tuple(kept), metadata, tuple(sorted(expected - set(there))), refusal)


def _sizes(
    store: ArtifactStore, site_name: str, token: AttemptToken
) -> tuple[Mapping[str, int], str]:
    """Return the sizes of what is there, and what makes it unfit to be fetched at all."""
    sizes: dict[str, int] = {}
    there = store.sizes(incoming_directory(site_name, token))
    for name, most in contract.MAX_BYTES.items():
        if name not in there:
            continue
        if there[name] > most:
            return {}, f"{name} has {there[name]} bytes, more than the {most} allowed"
        sizes[name] = there[name]
    return sizes, ""


def _keep(
    store: ArtifactStore, site_name: str, token: AttemptToken, courier: str, destination: Path
) -> KeptArtifact:
    name, key = destination.name, kept_key(token, courier, destination.name)
    store.copy(incoming_key(site_name, token, name), key)
    store.fetch(key, destination, max_bytes=contract.MAX_BYTES[name])
    with destination.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return KeptArtifact(name, key, destination.stat().st_size, sha256)


def _last_word(
    token: AttemptToken, directory: Path
) -> tuple[HardwareTestMetadata | None, set[str]]:
    """Return the metadata, and what should be there."""
    try:
        metadata = read_metadata_of(token, directory)
    except (TornArtifact, WrongAttempt):
        return None, set()
    return metadata, set(metadata.artifacts) & set(contract.MAX_BYTES)
