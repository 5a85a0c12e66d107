"""Bad input gets one sentence, and nothing is left behind."""

import socket
from pathlib import Path

import pytest

from deploy.cluster import testing
from deploy.cluster.command import main
from deploy.cluster.errors import ClusterError


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--nodes", "0"], "--nodes must be between 1 and 512, not 0"),
        (["--nodes", "9999"], "--nodes must be between 1 and 512, not 9999"),
        (["--gpus", "-1"], "--gpus must be between 0 and 64, not -1"),
        (["--first-port", "80"], "--first-port must be between 1024 and 65000, not 80"),
        (["--node-name", "box"], "--node-name names the only node: give --nodes 1 with it"),
        (["--nodes", "1", "--node-name", "a[1-2]"], "--node-name 'a[1-2]' is malformed"),
        (["--partition", "a b"], "--partition 'a b' is malformed"),
        (["--set", "SlurmdTimeout"], "--set 'SlurmdTimeout' is malformed"),
    ],
)
def test_a_bad_option_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], sentence: str
) -> None:
    code = main(["up", str(tmp_path / "new"), *options])

    assert code == 1
    assert sentence in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_a_directory_with_files_of_somebody_else_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "thesis.tex").touch()

    assert main(["up", str(tmp_path)]) == 1

    assert "holds 'thesis.tex', which is not ours" in capsys.readouterr().err
    assert [each.name for each in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_directory_that_slurm_cannot_name_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["up", str(tmp_path / "my cluster")])

    assert code == 1
    assert "slurm.conf cannot" in capsys.readouterr().err


def test_a_directory_below_a_file_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()

    code = main(["up", str(tmp_path / "file" / "new")])

    assert code == 1
    assert f"cannot write {tmp_path}/file/new: Not a directory" in capsys.readouterr().err


def test_a_port_in_use_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]

        code = main(["up", str(tmp_path / "new"), "--first-port", str(port)])

    assert code == 1
    assert f"port {port} is in use" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["up", "down", "wipe", "status"])
@pytest.mark.parametrize("record", ['{"schema": 1, "dir', "[]", '{"schema": 1}', "\0"])
def test_a_damaged_record_is_refused_with_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, record: str
) -> None:
    (tmp_path / "cluster.json").write_text(record)

    code = main([command, str(tmp_path)])

    said = capsys.readouterr().err
    assert code == 1
    assert said.startswith(f"cluster: {tmp_path}/cluster.json is damaged or of another version (")
    assert f"end what `pgrep -af {tmp_path}/` shows and delete {tmp_path}\n" in said
    assert [path.name for path in tmp_path.iterdir()] == ["cluster.json"]


def test_down_where_there_is_no_cluster_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["down", str(tmp_path)])

    assert code == 0
    assert f"There is no cluster in {tmp_path}." in capsys.readouterr().out


def test_other_options_for_a_cluster_that_exists_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    testing.bring_up(tmp_path / "c", "--nodes", "1", "--no-accounting")
    try:
        code = main(["up", str(tmp_path / "c"), "--nodes", "3"])

        assert code == 1
        assert "with other options (nodes); `wipe` it first" in capsys.readouterr().err
    finally:
        testing.command("wipe", str(tmp_path / "c"))


def test_a_setting_that_kills_slurmctld_is_told_in_its_own_words(tmp_path: Path) -> None:
    options = ("--no-accounting", "--set", "SelectType=select/no")
    try:
        with pytest.raises(ClusterError, match=r"slurmctld ended at once.*select/no"):
            testing.bring_up(tmp_path / "c", *options)
    finally:
        testing.command("wipe", str(tmp_path / "c"))
