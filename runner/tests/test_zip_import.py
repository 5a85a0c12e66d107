"""Modules of the bundle are compiled once, and are called what zipimporter calls them."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path
from zipimport import zipimporter

import pytest

from runner.zip_import import BundleImporter

ROOT = Path(__file__).parents[2]
ODD = 'WORD = "\\d"\n'  # the compiler warns of it each time it compiles it


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    path = tmp_path / "bundle.pyz"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("odd.py", ODD)
        file.writestr("inner/__init__.py", "")
        file.writestr("inner/deep/__init__.py", ODD)
        file.writestr("inner/deep/odd.py", ODD)
    return path


def warnings_of(bundle: Path, start: str) -> int:
    program = (
        f"import sys; {start}; sys.path.insert(0, {str(bundle)!r}); import odd, inner.deep.odd"
    )
    command = [sys.executable, "-W", "always", "-c", program]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stderr.count("invalid escape sequence")


def test_each_module_is_compiled_once(bundle: Path) -> None:
    assert warnings_of(bundle, "from runner.zip_import import install; install()") == 3


def test_a_zip_that_was_imported_from_already_is_imported_from_in_this_way(bundle: Path) -> None:
    """The bundle's own start is such a zip: `runner` itself comes from it before."""
    begin = (
        f"sys.path.insert(0, {str(bundle)!r}); import inner; from runner.zip_import import install"
    )

    assert warnings_of(bundle, f"{begin}; install()") == 3


@pytest.mark.filterwarnings("ignore:invalid escape")
@pytest.mark.parametrize(
    ("at", "name"), [("", "odd"), ("", "inner"), ("/inner", "inner.deep"), ("/inner/deep", "a.odd")]
)
def test_a_module_is_called_as_by_zipimporter(bundle: Path, at: str, name: str) -> None:
    place = f"{bundle}{at}"

    assert BundleImporter(place).get_filename(name) == zipimporter(place).get_filename(name)


def test_what_is_not_there_is_an_import_error(bundle: Path) -> None:
    with pytest.raises(ImportError, match="missing"):
        BundleImporter(str(bundle)).get_filename("missing")
