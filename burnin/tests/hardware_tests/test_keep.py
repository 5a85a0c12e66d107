"""A recording of many nodes says nothing of the cluster that it was made on."""

import hashlib
import json
import shutil
import tarfile
from pathlib import Path

import pytest

from fixtures.artifacts import keep
from fixtures.artifacts.regenerate import HERE
from runner.contract import artifacts as contract
from runner.contract.slugs import Slugs

CANNED = HERE / Slugs.PARALLEL_STORAGE / "pass"
THEIRS = ("gpu-r07-1", "gpu-r07-2", "gpu-r07-3", "gpu-r07-4")


@pytest.fixture
def attempt(tmp_path: Path) -> Path:
    """The canned attempt as a cluster elsewhere would have left it."""
    there = {f"node-{number}": name for number, name in enumerate(THEIRS, 1)}
    there |= {"node-[1-4]": "gpu-r07-[1-4]", keep.KERNEL: "5.14.0-el9", keep.WORK_DIR: "/lustre/us"}
    shutil.copytree(CANNED, tmp_path / "attempt")
    for name in (contract.METADATA, contract.STARTED, contract.STDOUT):
        path = tmp_path / "attempt" / name
        path.write_bytes(keep._renamed(path.read_bytes(), there))
    custom = tmp_path / "attempt" / contract.CUSTOM
    custom.write_bytes(keep._renamed_archive(custom.read_bytes(), there))
    assert b"gpu-r07-2" in (tmp_path / "attempt" / contract.METADATA).read_bytes()
    return tmp_path / "attempt"


def test_what_is_kept_bears_the_names_of_every_recording(
    attempt: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keep, "HERE", tmp_path / "recordings")

    kept = keep.keep(attempt, "pass")

    with tarfile.open(kept / contract.CUSTOM) as archive:
        archive.extractall(tmp_path / "unpacked", filter="data")
    said = [path.read_text() for path in (tmp_path / "unpacked").rglob("*") if path.is_file()]
    said += [path.read_text() for path in kept.iterdir() if path.name != contract.CUSTOM]
    assert not [word for word in ("gpu-r07", "5.14.0", "lustre") if word in "".join(said)]
    metadata = json.loads((kept / contract.METADATA).read_text())
    assert metadata["node_names"] == ["node-1", "node-2", "node-3", "node-4"]
    assert metadata["slurm"]["node_list"] == "node-[1-4]"
    for name, told in metadata["artifacts"].items():
        assert told["sha256"] == hashlib.sha256((kept / name).read_bytes()).hexdigest()
