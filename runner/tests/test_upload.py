"""Uploads against a real server that fails in every way we know."""

from __future__ import annotations

import socket
import time
from pathlib import Path

import pytest

from runner.tests.store import CUT_OFF, SILENT, serving
from runner.upload import Uploader, UploadFailed


def uploader(*, budget_s: float = 20, pauses: list[float] | None = None) -> Uploader:
    pauses = pauses if pauses is not None else []
    return Uploader(deadline=time.monotonic() + budget_s, sleep=pauses.append)


@pytest.fixture
def stdout(tmp_path: Path) -> Path:
    path = tmp_path / "stdout.txt"
    path.write_bytes(b"0123456789" * 200_000)
    return path


def test_a_file_arrives_whole_with_its_length(stdout: Path) -> None:
    with serving() as store:
        uploader().put(stdout, store.url_of("stdout.txt"))

        assert store.bodies["stdout.txt"] == stdout.read_bytes()
        assert store.lengths == ["2000000"]


def test_an_empty_file_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "stderr.txt").write_bytes(b"")

    with serving() as store:
        uploader().put(tmp_path / "stderr.txt", store.url_of("stderr.txt"))

        assert store.bodies["stderr.txt"] == b""


@pytest.mark.parametrize("answers", [(500, 500), (429, 408), (503, CUT_OFF)])
def test_what_may_pass_is_tried_again_after_growing_pauses(
    stdout: Path, answers: tuple[int, ...]
) -> None:
    pauses: list[float] = []

    with serving(*answers) as store:
        uploader(pauses=pauses).put(stdout, store.url_of("stdout.txt"))

        assert store.bodies["stdout.txt"] == stdout.read_bytes()
    assert pauses == [0.5, 1.0]


@pytest.mark.parametrize("answer", [400, 403, 404, 301])
def test_a_refusal_is_final_and_never_quotes_the_url(stdout: Path, answer: int) -> None:
    with serving(answer) as store:
        with pytest.raises(UploadFailed, match=f"the store answered {answer}") as error:
            uploader().put(stdout, store.url_of("stdout.txt"))

        assert len(store.lengths) == 1
    assert "SECRET" not in str(error.value)
    assert "127.0.0.1" not in str(error.value)


def test_a_store_that_says_nothing_is_left_in_time(stdout: Path) -> None:
    with serving(SILENT) as store, pytest.raises(UploadFailed, match="not uploaded in time"):
        uploader(budget_s=0.5).put(stdout, store.url_of("stdout.txt"))


def test_no_store_at_all_is_said_without_its_address(stdout: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]

    with pytest.raises(UploadFailed) as error:
        uploader(budget_s=0.2).put(stdout, f"http://127.0.0.1:{port}/x?signature=SECRET")

    assert str(error.value) == "stdout.txt was not uploaded in time: Connection refused"


def test_without_time_nothing_is_begun(stdout: Path) -> None:
    with serving() as store:
        with pytest.raises(UploadFailed, match="no time left to begin"):
            uploader(budget_s=0).put(stdout, store.url_of("stdout.txt"))

        assert store.lengths == []


def test_a_certificate_nobody_vouches_for_is_refused(stdout: Path) -> None:
    with serving() as store, pytest.raises(UploadFailed, match=r"SSL|wrong version|record"):
        uploader(budget_s=0.2).put(stdout, store.url_of("stdout.txt").replace("http", "https", 1))
