"""The files of one attempt, as they came from a node: verified before anything reads them."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path
from types import MappingProxyType

from pydantic import ValidationError

from burnin.hardware_tests.metadata import ArtifactFacts, HardwareTestMetadata
from burnin.hardware_tests.unpack import TornArtifact, unpack
from runner.contract import artifacts as contract
from runner.contract.wire import AttemptToken, Outcome


class TestArtifactFile(StrEnum):
    """Every file an attempt leaves behind."""

    __test__ = False

    STARTED = contract.STARTED
    STDOUT = contract.STDOUT
    STDERR = contract.STDERR
    CUSTOM = contract.CUSTOM
    METADATA = contract.METADATA


class MissingArtifact(Exception):
    """A file that must be there is not. The run was not measured."""


class AmbiguousArtifact(Exception):
    """Several files match where one is read."""


class WrongAttempt(Exception):
    """The artifacts are of another attempt."""


class ArtifactCollector:
    """What `extract_metrics` reads. The files belong to `open_artifacts`, which removes them."""

    def __init__(self, directory: Path, *, results: Path, metadata: HardwareTestMetadata) -> None:
        self.paths: Mapping[TestArtifactFile, Path] = MappingProxyType(
            {file: directory / file.value for file in TestArtifactFile}
        )
        self.metadata = metadata
        self._directory = directory
        self._results = results

    def get_custom_file(self, pattern: str) -> Path:
        """Return the one custom artifact that matches, by its path below the results.

        Raises MissingArtifact for none and AmbiguousArtifact for several.
        """
        matches = self.get_custom_files(pattern)
        if not matches:
            raise MissingArtifact(f"the run left no {pattern} among its custom artifacts")
        if len(matches) > 1:
            names = ", ".join(path.name for path in matches[:5])
            raise AmbiguousArtifact(f"{len(matches)} custom artifacts match {pattern}: {names}")
        return matches[0]

    def get_custom_files(self, pattern: str) -> list[Path]:
        """Return every custom artifact that matches, sorted; none is an empty list."""
        found = sorted(path for path in self._results.rglob("*") if path.is_file())
        return [
            path for path in found if fnmatchcase(str(path.relative_to(self._results)), pattern)
        ]

    def iterations(self) -> tuple[ArtifactCollector, ...]:
        """Return a collector for each iteration: they differ in their custom artifacts only."""
        if len(self.metadata.iterations) <= 1:
            return (self,)
        return tuple(self._iteration(each.index) for each in self.metadata.iterations)

    def _iteration(self, index: int) -> ArtifactCollector:
        results = self._results / f"iteration-{index}"
        if not results.is_dir():
            raise MissingArtifact(f"iteration {index} left no custom artifacts")
        return ArtifactCollector(self._directory, results=results, metadata=self.metadata)


@contextmanager
def open_artifacts(
    directory: Path, token: AttemptToken, scratch: Path | None = None
) -> Iterator[ArtifactCollector]:
    """Verify an attempt's files, unpack the custom ones aside, and remove those at the end.

    The directory itself is only read; aside is in `scratch`, or among the temporary files.
    Raises MissingArtifact, TornArtifact or WrongAttempt.
    """
    metadata = read_metadata_of(token, directory)
    for file in TestArtifactFile:
        _verify(directory, file, metadata)
    with tempfile.TemporaryDirectory(prefix="burnin-artifacts-", dir=scratch) as results:
        archive = directory / contract.CUSTOM
        if contract.CUSTOM in metadata.artifacts:
            unpack(archive, Path(results))
        yield ArtifactCollector(directory, results=Path(results), metadata=metadata)


def read_metadata(directory: Path) -> HardwareTestMetadata:
    """Return the runner's last word. Raises MissingArtifact or TornArtifact."""
    path = directory / contract.METADATA
    if not path.is_file():
        raise MissingArtifact(f"there is no {path.name}: the attempt did not end by itself")
    _refuse_too_large(path)
    try:
        return HardwareTestMetadata.model_validate_json(path.read_bytes())
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(step) for step in first["loc"]) or "the document"
        raise TornArtifact(f"{path.name} cannot be read: {where}: {first['msg']}") from None


def read_metadata_of(token: AttemptToken, directory: Path) -> HardwareTestMetadata:
    """Return the last word of this attempt. Raises as `read_metadata`, or WrongAttempt."""
    metadata = read_metadata(directory)
    found = AttemptToken(metadata.run_id, metadata.attempt)
    if found != token:
        raise WrongAttempt(f"the artifacts are of {found.comment}, not of {token.comment}")
    return metadata


def _verify(directory: Path, file: TestArtifactFile, metadata: HardwareTestMetadata) -> None:
    if file is TestArtifactFile.METADATA:
        return
    stated = metadata.artifacts.get(file.value)
    if stated is None:
        if metadata.outcome == Outcome.RAN:
            raise MissingArtifact(f"metadata.json names no {file.value}: nothing vouches for it")
        return
    _refuse_lost_results(file, metadata)
    _verify_file(directory / file.value, stated)


def _refuse_lost_results(file: TestArtifactFile, metadata: HardwareTestMetadata) -> None:
    # A log may lose its middle; a report that lost a part must not be judged.
    if file is TestArtifactFile.CUSTOM and file.value in metadata.truncated:
        raise TornArtifact(f"{file.value} was too large and lost a part on the node")


def _verify_file(path: Path, stated: ArtifactFacts) -> None:
    if path.is_symlink() or not path.is_file():
        raise MissingArtifact(f"{path.name} is missing, though metadata.json names it")
    _refuse_too_large(path)
    size_bytes = path.stat().st_size
    if size_bytes != stated.size_bytes:
        raise TornArtifact(
            f"{path.name} has {size_bytes} bytes, metadata.json says {stated.size_bytes}"
        )
    with path.open("rb") as stream:
        sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
    if sha256 != stated.sha256:
        raise TornArtifact(f"{path.name} has another sha256 than metadata.json says")


def _refuse_too_large(path: Path) -> None:
    size_bytes, most = path.stat().st_size, contract.MAX_BYTES[path.name]
    if size_bytes > most:
        raise TornArtifact(f"{path.name} has {size_bytes} bytes, more than the {most} allowed")
