"""Bad input gets one clear sentence, the exit code for it, and leaves nothing half-written."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management.base import CommandError
from django.db.utils import OperationalError

from burnin.management.commands.hardware_tests import Command
from burnin.management.hardware_tests import parse
from burnin.tests.cli.conftest import Hardware

ROOT = Path(__file__).resolve().parents[3]
BAD_INPUT = 64
EXIT_UNREAD = 141  # what a shell says of a command that SIGPIPE ended
HELLO = ("dispatch", "single-node.hello-world", "--local", "--partition", "main", "--timeout", "5")
STRESS = ("dispatch", "single-node.memory-stress", "--local", "--partition", "main")


@pytest.fixture(autouse=True)
def no_slurm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLURM_CONF", raising=False)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ("schema", "single-node.helo-world"),
            r"no test .*'single-node\.helo-world'.*did you mean .*single-node\.hello-world",
        ),
        (
            (*STRESS, "--timeout", "5", "--params", '{"duration_s": "long"}'),
            r"params of single-node\.memory-stress do not fit: 'duration_s' is 'long'",
        ),
        (
            (*STRESS, "--timeout", "5", "--params", '{"durations": 5}'),
            r"no param 'durations', did you mean 'duration_s'",
        ),
        ((*STRESS, "--timeout", "5", "--params", "{"), r"are not JSON"),
        ((*HELLO, "--nodelist", ""), r"node list is empty"),
        ((*HELLO, "--nodelist", "n[1-99999999]"), r"names 99,999,999 nodes; at most 10,000"),
        ((*HELLO, "--nodelist", "n1,n[1-2]"), r"names n1 more than once"),
        ((*STRESS, "--timeout", "0"), r"timeout in minutes"),
        (
            (*STRESS, "--timeout", "1", "--params", '{"duration_s": 50}'),
            r"cannot end in time: 1 x duration_s 50 does not fit into timeout_minutes 1, whose",
        ),
        ((*HELLO, "--resource-class", "h100-sxm9"), r"no resource class 'h100-sxm9'.*cpu-generic"),
        ((*HELLO, "--nodes", "2"), r"a single-node test runs on one node a job, not on 2"),
        ((*HELLO, "--nodelist", "n[1-2]"), r"a single-node test runs on one node a job, not on 2"),
        (HELLO, r"no Slurm to use on this machine: set SLURM_CONF .*make cluster"),
        ((*HELLO[:2], "--local", "--timeout", "5"), r"no partition was named"),
        (("parse", "floppy", "x"), r"x cannot be read: No such file"),
        (
            ("evaluate", "single-node.hello-world", "--artifacts", "/nowhere"),
            r"^/nowhere is no directory: give that of an attempt",
        ),
    ],
)  # fmt: skip
def test_a_mistake_gets_one_sentence(
    hardware_tests: Hardware, tmp_path: Path, arguments: tuple[str, ...], sentence: str
) -> None:
    said = hardware_tests(*arguments)

    assert said.exit_code == BAD_INPUT
    assert re.search(sentence, said.error)
    assert "\n" not in said.error
    assert said.stdout == ""
    assert not (tmp_path / "var").exists()


def test_an_unknown_tool_is_named(hardware_tests: Hardware, tmp_path: Path) -> None:
    (tmp_path / "report").write_text("x")

    said = hardware_tests("parse", "fioo", str(tmp_path / "report"))

    assert said.exit_code == BAD_INPUT
    assert said.error == "there is no parser for 'fioo': did you mean fio?"


def test_a_report_that_is_no_measurement_is_refused_with_its_kind(
    hardware_tests: Hardware, tmp_path: Path
) -> None:
    (tmp_path / "report").write_text("")

    said = hardware_tests("parse", "fio", str(tmp_path / "report"))

    assert said.exit_code == 1
    assert "is refused (no_data)" in said.error


def test_a_site_file_with_an_unknown_key_is_refused_by_name(
    hardware_tests: Hardware, tmp_path: Path
) -> None:
    sites = tmp_path / "var" / "sites"
    sites.mkdir(parents=True)
    (sites / "east.toml").write_text('name = "east"\nwork_dir = "/w"\nshell = "zsh"\n')

    said = hardware_tests(
        "dispatch",
        "single-node.hello-world",
        "--site",
        "east",
        "--partition",
        "p",
        "--timeout",
        "5",
    )

    assert said.exit_code == BAD_INPUT
    assert "east.toml is wrong at shell" in said.error


@pytest.mark.django_db
def test_a_site_that_neither_hub_nor_files_know_is_named(hardware_tests: Hardware) -> None:
    said = hardware_tests(
        "dispatch",
        "single-node.hello-world",
        "--site",
        "mars",
        "--timeout",
        "5",
        "--nodelist",
        "n1",
    )

    assert said.exit_code == BAD_INPUT
    assert said.error.startswith("the hub has no site 'mars'")


@pytest.mark.django_db
def test_an_empty_site_is_not_this_machine(hardware_tests: Hardware) -> None:
    said = hardware_tests(*HELLO[:2], "--site", "", *HELLO[3:], "--nodelist", "n1")

    assert said.exit_code == BAD_INPUT
    assert said.error.startswith("the hub has no site ''")


def test_a_slurm_conf_that_is_not_there_is_named_at_once(
    hardware_tests: Hardware, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLURM_CONF", "/nowhere/slurm.conf")

    said = hardware_tests(*HELLO)

    assert said.exit_code == BAD_INPUT
    assert said.error.startswith("SLURM_CONF names /nowhere/slurm.conf, which is not there")


def test_more_than_a_tool_writes_is_not_read(hardware_tests: Hardware, tmp_path: Path) -> None:
    with (tmp_path / "report").open("wb") as report:
        report.truncate(parse.MAX_BYTES + 1)

    said = hardware_tests("parse", "fio", str(tmp_path / "report"))

    assert said.exit_code == BAD_INPUT
    assert "is larger than 64 MiB" in said.error


def test_an_option_that_does_not_parse_is_bad_input_and_no_verdict(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as ending:
        Command().run_from_argv(["manage.py", "hardware_tests", *HELLO[:-1], "soon"])

    assert ending.value.code == BAD_INPUT
    assert capsys.readouterr().err == (
        "manage.py hardware_tests dispatch: argument --timeout: invalid int value: 'soon'; "
        "see `manage.py hardware_tests dispatch --help`\n"
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["dance"], "argument VERB: invalid choice: 'dance'"),
        ([], "the following arguments are required: VERB"),
        (["list", "--colour"], "unrecognized arguments: --colour"),
    ],
)
def test_a_verb_that_does_not_parse_is_bad_input_and_no_verdict(
    capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    with pytest.raises(SystemExit) as ending:
        Command().run_from_argv(["manage.py", "hardware_tests", *arguments])

    said = capsys.readouterr().err
    assert ending.value.code == BAD_INPUT
    assert said.startswith(f"manage.py hardware_tests: {words}")
    assert said.endswith("; see `manage.py hardware_tests --help`\n")
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "exit_code", "words"),
    [
        (PermissionError(13, "Permission denied", "/x"), BAD_INPUT, "/x: Permission denied"),
        (KeyboardInterrupt(), 130, "a job that Slurm has taken goes on"),
    ],
)
def test_what_ends_a_command_is_said_in_one_sentence(
    error: BaseException, exit_code: int, words: str
) -> None:
    def act(*_: object) -> int:
        raise error

    with pytest.raises(CommandError, match=words) as refused:
        Command().handle(act=act)

    assert refused.value.returncode == exit_code


@pytest.mark.parametrize("buffering", ["", "1"])
def test_what_nobody_reads_any_more_ends_in_silence(buffering: str) -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    done = subprocess.run(
        [sys.executable, "manage.py", "hardware_tests", "list"],
        cwd=ROOT,
        env=os.environ | {"PYTHONUNBUFFERED": buffering},
        stdout=theirs,
        stderr=subprocess.PIPE,
        timeout=60,
        check=False,
    )
    os.close(theirs)

    assert (done.returncode, done.stderr) == (EXIT_UNREAD, b"")


def test_a_database_without_tables_is_named_with_what_to_do() -> None:
    def look_up(*_: object) -> int:
        raise OperationalError("no such table: fleet_site")

    with pytest.raises(CommandError, match=r"no such table: fleet_site.*run `manage.py migrate`"):
        Command().handle(act=look_up)
