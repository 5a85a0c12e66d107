"""What is refused, in one sentence, with nothing started."""

import fcntl
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy.one_machine import remains
from deploy.one_machine.command import main
from deploy.one_machine.remains import Start


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield other.getsockname()[1]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--port", "http"], "argument --port: 'http' is not a port from 1 to 65535"),
        (["--port", "99999"], "'99999' is not a port from 1 to 65535"),
        (["--memory-mb", "1"], "'1' is not a size in MiB from 64 to 16777216"),
        (["--faster"], "unrecognized arguments: --faster"),
        (["--directory", "/my place"], "/my place holds characters that slurm.conf cannot"),
    ],
)
def test_a_bad_option_is_refused(
    capsys: pytest.CaptureFixture[str], options: list[str], sentence: str
) -> None:
    code = main(options)

    said = capsys.readouterr().err
    assert code == 1
    assert sentence in said
    assert said.count("\n") == 1


def test_a_port_in_use_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], taken_port: int
) -> None:
    code = main(["--directory", str(tmp_path), "--port", str(taken_port), "--memory-mb", "512"])

    assert code == 1
    assert f"port {taken_port} is in use: give another --port" in capsys.readouterr().err


def test_the_port_may_come_from_the_environment(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    taken_port: int,
) -> None:
    monkeypatch.setenv("FLEET_PORT", str(taken_port))

    code = main(["--directory", str(tmp_path), "--memory-mb", "512"])

    assert code == 1
    assert f"port {taken_port} is in use" in capsys.readouterr().err


def test_a_second_start_names_the_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    me = remains.identity(os.getpid())
    Start("token", "http://127.0.0.1:8001", 0.0, me).save(tmp_path / "running.json")
    with (tmp_path / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)

        code = main(["--directory", str(tmp_path)])

    assert code == 1
    assert capsys.readouterr().err == (
        f"make run: it runs already, at http://127.0.0.1:8001 (process {os.getpid()}): "
        "press Ctrl-C there\n"
    )


def test_a_start_that_is_not_up_yet_holds_the_directory_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (tmp_path / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)

        code = main(["--directory", str(tmp_path)])

    assert code == 1
    assert f"another `make run` works on {tmp_path}" in capsys.readouterr().err


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory, in which a start would strew its files."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_an_empty_directory_name_is_not_the_current_directory(
    elsewhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["--directory", ""])

    assert code == 1
    assert capsys.readouterr().err == "make run: the directory's name is empty: give one\n"
    assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize("names", [["manage.py"], ["lock", "cluster.json"], ["hub", "notes.txt"]])
def test_a_directory_of_somebody_elses_is_refused(
    elsewhere: Path, capsys: pytest.CaptureFixture[str], names: list[str]
) -> None:
    for name in names:
        (elsewhere / name).touch()

    code = main(["--directory", "."])

    assert code == 1
    assert capsys.readouterr().err == (
        f"make run: {elsewhere} holds {names[-1]!r}, which is not ours: "
        "name a new or an empty directory\n"
    )
    assert {path.name for path in elsewhere.iterdir()} == set(names)


def test_the_root_directory_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["--directory", "/"])

    assert code == 1
    assert "make run: / holds " in capsys.readouterr().err


def test_a_file_is_no_directory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").touch()

    code = main(["--directory", str(tmp_path / "file")])

    assert code == 1
    assert f"cannot write {tmp_path}/file: File exists" in capsys.readouterr().err


@pytest.mark.parametrize(
    "names",
    [
        ["lock"],  # a start that was refused
        ["lock", "hub", "log", "redis", "hub.env.new"],  # one that was killed early
        ["lock", "hub.env", "password", "notes.txt"],  # its owner may keep files there
    ],
)
def test_an_installation_is_taken_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], taken_port: int, names: list[str]
) -> None:
    for name in names:
        (tmp_path / name).touch()

    code = main(["--directory", str(tmp_path), "--port", str(taken_port), "--memory-mb", "512"])

    assert code == 1
    assert f"port {taken_port} is in use" in capsys.readouterr().err
