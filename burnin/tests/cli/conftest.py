"""The command line as a person uses it: its words, its exit code, and a place of its own."""

import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings


@dataclass(frozen=True)
class Said:
    """What `hardware_tests …` printed, and how it ended."""

    exit_code: int
    stdout: str
    error: str


Hardware = Callable[..., Said]


@pytest.fixture
def hardware_tests(settings: Settings, tmp_path: Path) -> Hardware:
    settings.VAR_DIR = tmp_path / "var"
    settings.SITES_DIR = tmp_path / "var" / "sites"

    def run(*arguments: str) -> Said:
        stdout = io.StringIO()
        try:
            call_command("hardware_tests", *arguments, stdout=stdout)
        except CommandError as error:
            return Said(error.returncode, stdout.getvalue(), str(error))
        except SystemExit as ending:
            return Said(int(str(ending.code)), stdout.getvalue(), "")
        return Said(0, stdout.getvalue(), "")

    return run
