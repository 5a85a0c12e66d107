"""What a satellite is told about its site, hub and broker, and what it refuses to start with."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from burnin.satellite.config import VERSION, BadSite, SiteConfig, load_satellite, load_site

GOOD = """name = "east"
work_dir = "/srv/burnin"

[hub]
url = "https://fleet.example/"
token_file = "TOKEN_FILE"

[broker]
url = "redis://site-east:pass@broker:6379/0"
"""


@pytest.fixture
def write(tmp_path: Path) -> object:
    token_file = tmp_path / "token"
    token_file.write_text("a-token\n")
    token_file.chmod(0o600)
    return lambda text: _write(tmp_path, text.replace("TOKEN_FILE", str(token_file)))


def _write(directory: Path, text: str) -> Path:
    path = directory / "east.toml"
    path.touch(mode=0o600)
    path.write_text(text)
    return path


def test_a_good_file_says_where_hub_and_queue_are(write: object) -> None:
    assert callable(write)

    site, hub, broker = load_satellite(write(GOOD))

    assert (site.name, hub.url) == ("east", "https://fleet.example")
    assert "pass" not in repr(broker)
    assert site.pace.fast_s == 1


def test_a_site_for_the_author_needs_neither_hub_nor_broker(write: object) -> None:
    assert callable(write)

    assert load_site(write('name = "east"\nwork_dir = "/srv/burnin"\n')).hub is None


@pytest.mark.parametrize(
    ("was", "becomes", "words"),
    [
        ("https://fleet.example/", "http://fleet.example/", "must be https"),
        ("https://fleet.example/", "fleet.example", "must be the address"),
        ("[broker]", "[brooker]", "wrong at brooker"),
        ('token_file = "TOKEN_FILE"', 'token_file = "/nowhere"', "/nowhere cannot be read"),
        ("[hub]", "[hub]\ntoken = 'x'", "wrong at hub.token"),
    ],
)
def test_a_wrong_file_is_refused_in_one_sentence(
    write: object, was: str, becomes: str, words: str
) -> None:
    assert callable(write)

    with pytest.raises(BadSite) as refusal:
        load_satellite(write(GOOD.replace(was, becomes)))

    assert words in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("token", "mode", "words"),
    [("a-token", 0o644, "chmod 600"), ("", 0o600, "issue one"), ("two words", 0o600, "issue one")],
)
def test_a_token_that_others_can_read_or_that_is_none_is_refused(
    write: object, tmp_path: Path, token: str, mode: int, words: str
) -> None:
    assert callable(write)
    path = write(GOOD)
    (tmp_path / "token").write_text(token)
    (tmp_path / "token").chmod(mode)

    with pytest.raises(BadSite, match=words):
        load_satellite(path)


@pytest.mark.parametrize("name", ["east.toml", "key"])
def test_a_site_file_or_ssh_key_that_others_can_read_is_refused(
    write: object, tmp_path: Path, name: str
) -> None:
    assert callable(write)
    key = tmp_path / "key"
    key.touch(mode=0o600)
    lines = ["[ssh]", 'host = "login"', 'user = "burnin"', f'key_file = "{key}"']
    path = write("\n".join([GOOD, *lines, f'known_hosts = "{tmp_path}/known_hosts"\n']))
    load_satellite(path)

    (tmp_path / name).chmod(0o644)

    with pytest.raises(BadSite, match=f"others can read .*{name}: chmod 600 it"):
        load_satellite(path)


def test_the_version_in_the_heartbeat_is_the_project_s() -> None:
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())

    assert project["project"]["version"] == VERSION


def test_the_example_that_is_handed_out_is_a_good_file() -> None:
    example = Path(__file__).parents[3] / "deploy" / "satellite" / "site.toml"

    site = load_site(example)

    assert site.hub is not None and site.broker is not None
    assert site.pace == SiteConfig(name="x", work_dir="/x").pace
