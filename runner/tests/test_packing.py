"""results/ becomes one archive."""

from __future__ import annotations

import hashlib
import json
import os
import tarfile
from pathlib import Path

import pytest

from runner.documents import write_json
from runner.packing import digest, pack


def results_with(directory: Path, **files: bytes) -> Path:
    results = directory / "results"
    (results / "iteration-1").mkdir(parents=True)
    for name, data in files.items():
        (results / "iteration-1" / name).write_bytes(data)
    return results


def names_in(archive: Path) -> list[str]:
    with tarfile.open(archive) as tar:
        return tar.getnames()


def test_members_are_named_below_results_in_order(tmp_path: Path) -> None:
    results = results_with(tmp_path, b=b"2", a=b"1")

    left_out = pack(results, tmp_path / "out.tar.gz")

    assert left_out == []
    assert names_in(tmp_path / "out.tar.gz") == ["iteration-1/a", "iteration-1/b"]


def test_the_same_results_give_the_same_bytes(tmp_path: Path) -> None:
    results = results_with(tmp_path, a=b"1")
    pack(results, tmp_path / "one.tar.gz")
    os.utime(results / "iteration-1/a", (1, 1))
    (results / "iteration-1/a").chmod(0o600)

    pack(results, tmp_path / "two.tar.gz")

    assert (tmp_path / "one.tar.gz").read_bytes() == (tmp_path / "two.tar.gz").read_bytes()


def test_links_are_left_out_and_named(tmp_path: Path) -> None:
    results = results_with(tmp_path, a=b"1")
    (results / "passwd").symlink_to("/etc/passwd")
    (results / "etc").symlink_to("/etc")

    left_out = pack(results, tmp_path / "out.tar.gz")

    assert left_out == ["results/etc", "results/passwd"]
    assert names_in(tmp_path / "out.tar.gz") == ["iteration-1/a"]


def test_what_does_not_fit_is_left_out_whole_and_named(tmp_path: Path) -> None:
    results = results_with(tmp_path, big=os.urandom(50_000), small=b"1")

    left_out = pack(results, tmp_path / "out.tar.gz", limit_bytes=20_000)

    assert left_out == ["results/iteration-1/big"]
    assert names_in(tmp_path / "out.tar.gz") == ["iteration-1/small"]
    assert (tmp_path / "out.tar.gz").stat().st_size <= 20_000
    assert (results / "iteration-1/big").exists()


def test_a_digest_is_size_and_sha256(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"abc")

    found = digest(tmp_path / "file")

    assert found == {"size_bytes": 3, "sha256": hashlib.sha256(b"abc").hexdigest()}


def test_a_document_that_cannot_be_written_leaves_the_one_before(tmp_path: Path) -> None:
    write_json(tmp_path / "metadata.json", {"value": 1})

    with pytest.raises(ValueError, match="JSON compliant"):
        write_json(tmp_path / "metadata.json", {"value": float("nan")})

    assert json.loads((tmp_path / "metadata.json").read_text()) == {"value": 1}
