"""Nothing is read before it is known to be whole and of this attempt."""

import gzip
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from burnin.hardware_tests.artifacts import (
    AmbiguousArtifact,
    ArtifactCollector,
    MissingArtifact,
    TestArtifactFile,
    WrongAttempt,
    open_artifacts,
    read_metadata,
)
from burnin.hardware_tests.unpack import TornArtifact
from burnin.tests.hardware_tests.attempt_directory import (
    Json,
    member,
    put_custom,
    read_document,
    tar_of,
    write_attempt,
    write_metadata,
)
from burnin.tests.hardware_tests.toy import TOKEN
from runner.contract import artifacts as contract
from runner.contract.wire import AttemptToken


def opened(directory: Path, token: AttemptToken = TOKEN) -> str:
    with open_artifacts(directory, token) as collector:
        return collector.metadata.outcome


def altered(directory: Path, change: Callable[[Json], Any]) -> Path:
    document = read_document(directory)
    change(document)
    write_metadata(directory, document)
    return directory


def test_every_file_has_a_name_in_the_contract() -> None:
    assert {file.value for file in TestArtifactFile} == set(contract.MAX_BYTES)


def test_files_metadata_and_custom_artifacts_can_be_read(attempt: ArtifactCollector) -> None:
    assert attempt.paths[TestArtifactFile.STDOUT].read_text() == "out\n"
    assert json.loads(attempt.get_custom_file("*.json").read_text())["responded"] == 1
    assert attempt.metadata.node_names == ("n1",)
    assert attempt.metadata.facts[0].cpu_count is None


def test_what_was_unpacked_is_gone_afterwards(attempt_directory: Path) -> None:
    with open_artifacts(attempt_directory, TOKEN) as collector:
        unpacked = collector.get_custom_file("toy.json")
        assert unpacked.is_file()

    assert not unpacked.exists()
    assert sorted(path.name for path in attempt_directory.iterdir()) == sorted(contract.MAX_BYTES)


def test_one_file_must_match(tmp_path: Path) -> None:
    directory = write_attempt(tmp_path / "a", {"fio-read.json": "{}", "fio-write.json": "{}"})

    with open_artifacts(directory, TOKEN) as collector:
        with pytest.raises(AmbiguousArtifact, match=r"2 custom artifacts match fio-\*.json"):
            collector.get_custom_file("fio-*.json")
        with pytest.raises(MissingArtifact, match=r"left no dcgm.json among its custom"):
            collector.get_custom_file("dcgm.json")


def test_each_iteration_has_its_own_custom_artifacts(tmp_path: Path) -> None:
    files = {"iteration-1/a.txt": "one", "iteration-2/a.txt": "two"}
    directory = write_attempt(tmp_path / "a", files, iterations=2)

    with open_artifacts(directory, TOKEN) as collector:
        texts = [each.get_custom_file("a.txt").read_text() for each in collector.iterations()]

    assert texts == ["one", "two"]


def test_an_iteration_without_artifacts_is_missing(tmp_path: Path) -> None:
    directory = write_attempt(tmp_path / "a", {"iteration-1/a.txt": "one"}, iterations=2)

    with (
        open_artifacts(directory, TOKEN) as collector,
        pytest.raises(MissingArtifact, match="iteration 2 left no custom artifacts"),
    ):
        collector.iterations()


def test_without_metadata_the_attempt_did_not_end(attempt_directory: Path) -> None:
    (attempt_directory / contract.METADATA).unlink()

    with pytest.raises(MissingArtifact, match=r"there is no metadata.json"):
        opened(attempt_directory)


@pytest.mark.parametrize("name", ["started.json", "stdout.txt", "custom-artifacts.tar.gz"])
def test_a_file_that_metadata_names_must_be_there(attempt_directory: Path, name: str) -> None:
    (attempt_directory / name).unlink()

    with pytest.raises(MissingArtifact, match=f"{name} is missing, though metadata.json names it"):
        opened(attempt_directory)


def test_a_truncated_file_is_refused(attempt_directory: Path) -> None:
    (attempt_directory / contract.STDOUT).write_bytes(b"ou")

    with pytest.raises(TornArtifact, match=r"stdout.txt has 2 bytes, metadata.json says 4"):
        opened(attempt_directory)


def test_a_changed_byte_is_refused(attempt_directory: Path) -> None:
    (attempt_directory / contract.STDOUT).write_bytes(b"oud\n")

    with pytest.raises(TornArtifact, match=r"stdout.txt has another sha256"):
        opened(attempt_directory)


def test_a_link_in_place_of_a_file_is_refused(attempt_directory: Path) -> None:
    stdout = attempt_directory / contract.STDOUT
    stdout.rename(attempt_directory / "elsewhere")
    stdout.symlink_to("elsewhere")

    with pytest.raises(MissingArtifact, match=r"stdout.txt is missing"):
        opened(attempt_directory)


@pytest.mark.parametrize(
    "token",
    [
        AttemptToken(TOKEN.run_id, 2),
        AttemptToken("11111111-1111-4111-8111-111111111111", 1),
    ],
)
def test_the_artifacts_of_another_attempt_are_refused(
    attempt_directory: Path, token: AttemptToken
) -> None:
    with pytest.raises(WrongAttempt) as refused:
        opened(attempt_directory, token)

    assert str(refused.value) == f"the artifacts are of {TOKEN.comment}, not of {token.comment}"


def test_a_run_must_vouch_for_each_file(attempt_directory: Path) -> None:
    altered(attempt_directory, lambda document: document["artifacts"].pop(contract.CUSTOM))

    with pytest.raises(MissingArtifact, match=r"names no custom-artifacts.tar.gz: nothing vouches"):
        opened(attempt_directory)


def test_what_could_not_run_may_leave_less(attempt_directory: Path) -> None:
    def change(document: Json) -> None:
        document.update(outcome="cannot_run", reason="fio is not installed", artifacts={})

    assert opened(altered(attempt_directory, change)) == "cannot_run"


def test_a_report_that_lost_a_part_is_refused(attempt_directory: Path) -> None:
    altered(attempt_directory, lambda document: document["truncated"].append(contract.CUSTOM))

    with pytest.raises(TornArtifact, match="lost a part on the node"):
        opened(attempt_directory)


def test_a_log_that_lost_its_middle_is_not(attempt_directory: Path) -> None:
    altered(attempt_directory, lambda document: document["truncated"].append(contract.STDOUT))

    assert opened(attempt_directory) == "ran"


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (lambda document: document.update(schema=2), "schema"),
        (lambda document: document.pop("outcome"), "outcome"),
        (lambda document: document.update(outcome="fine"), "outcome"),
        (lambda document: document.update(attempt="1"), "attempt"),
        (lambda document: document.update(finished_at=float("nan")), "finished_at"),
        (lambda document: document["artifacts"]["stdout.txt"].update(sha256="x"), "artifacts"),
    ],
)
def test_metadata_of_another_form_is_refused(
    attempt_directory: Path, change: Callable[[Json], Any], where: str
) -> None:
    altered(attempt_directory, change)

    with pytest.raises(TornArtifact, match=f"metadata.json cannot be read: {where}"):
        read_metadata(attempt_directory)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema": 1'])
def test_torn_metadata_is_refused(attempt_directory: Path, text: str) -> None:
    (attempt_directory / contract.METADATA).write_text(text)

    with pytest.raises(TornArtifact, match=r"metadata.json cannot be read"):
        read_metadata(attempt_directory)


def test_a_newer_runner_may_say_more(attempt_directory: Path) -> None:
    altered(attempt_directory, lambda document: document.update(mood="good"))

    assert opened(attempt_directory) == "ran"


def test_oversized_metadata_is_not_read(attempt_directory: Path) -> None:
    (attempt_directory / contract.METADATA).write_bytes(b" " * ((1 << 20) + 1))

    with pytest.raises(TornArtifact, match="more than the 1048576 allowed"):
        read_metadata(attempt_directory)


@pytest.mark.parametrize(
    ("odd", "sentence"),
    [
        (member("link", kind=tarfile.SYMTYPE, link="/etc/passwd"), "is no plain file"),
        (member("link", kind=tarfile.LNKTYPE, link="toy.json"), "is no plain file"),
        (member("null", kind=tarfile.CHRTYPE), "is no plain file"),
        (member("pipe", kind=tarfile.FIFOTYPE), "is no plain file"),
        (member("/etc/evil", b"x"), "leaves its directory"),
        (member("../evil", b"x"), "leaves its directory"),
        (member("a/../../evil", b"x"), "leaves its directory"),
        (member("toy.json", b"{}"), "stands there twice"),
        (member("d/" * 1800 + "deep", b"x"), "lies deeper than 50"),
        (member("d/" * 51, kind=tarfile.DIRTYPE), "lies deeper than 50"),
    ],
)
def test_an_odd_member_is_refused(attempt_directory: Path, odd: Any, sentence: str) -> None:
    put_custom(attempt_directory, tar_of([member("toy.json", b"{}"), odd]))

    with pytest.raises(TornArtifact, match=sentence):
        opened(attempt_directory)


def test_too_many_members_are_refused(
    attempt_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("burnin.hardware_tests.unpack.MAX_MEMBERS", 3)
    put_custom(attempt_directory, tar_of([member(f"{n}.txt") for n in range(4)]))

    with pytest.raises(TornArtifact, match="more than 3 files"):
        opened(attempt_directory)


def test_a_bomb_is_refused_before_it_is_unpacked(
    attempt_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("burnin.hardware_tests.unpack.MAX_UNPACKED_BYTES", 1000)
    put_custom(attempt_directory, tar_of([member("bomb", bytes(1001))]))

    with pytest.raises(TornArtifact, match="1000 bytes"):
        opened(attempt_directory)


@pytest.mark.parametrize("keep", [0, 10, 60])
def test_a_truncated_archive_is_refused(attempt_directory: Path, keep: int) -> None:
    whole = tar_of([member("toy.json", bytes(range(256)) * 50)])
    put_custom(attempt_directory, whole[:keep])

    with pytest.raises(TornArtifact, match=r"custom-artifacts.tar.gz cannot be unpacked"):
        opened(attempt_directory)


def test_what_is_no_archive_is_refused(attempt_directory: Path) -> None:
    put_custom(attempt_directory, gzip.compress(b"not a tar" * 200))

    with pytest.raises(TornArtifact, match=r"custom-artifacts.tar.gz cannot be unpacked"):
        opened(attempt_directory)
