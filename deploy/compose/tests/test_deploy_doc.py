"""docs/deploy.md, walked from its first command to its last, with a real Slurm as the site."""

from __future__ import annotations

import re
import shlex
import ssl
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from deploy.cluster.testing import RealCluster
from deploy.compose.tests.compose_file import ROOT
from deploy.compose.tests.composition import Composition

pytestmark = pytest.mark.xdist_group("composition")  # it is up once

DOCUMENT = ROOT / "docs" / "deploy.md"
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
EXEC = re.compile(r"docker compose exec (?:-T )?(\w+) (.*)")
# They need a container engine, a release or another machine.
NOT_HERE = (
    "chmod 600 .env",
    "docker compose build",
    "docker compose logs prepare",
    "docker run ",
    "git ",
)
SITE = "east"
MAKE_SITE = """
from fleet.models import Site
Site.objects.create(name="east", partition="main", work_dir={work_dir!r}, facts_root={facts_root!r})
"""


def commands() -> list[str]:
    return [line for block in BLOCK.findall(DOCUMENT.read_text()) for line in block.splitlines()]


@dataclass
class Walk:
    """Types each command as the document says, and does between them what it says in words."""

    composition: Composition
    cluster: RealCluster
    place: Path
    said: list[tuple[str, str]] = field(default_factory=list)

    def type(self, line: str) -> None:
        if match := EXEC.fullmatch(line):
            self._exec(line, match[1], match[2])
        elif line.startswith(NOT_HERE):
            return
        else:
            self._others()[line.split(" -")[0]](line)

    def answers_to(self, part: str) -> list[str]:
        """Return what was said to the commands that contain this, in order."""
        return [said for line, said in self.said if part in line]

    def _others(self) -> dict[str, Callable[[str], None]]:
        return {
            "python3 deploy/compose/make_env.py fleet.example.com https://s3.example.com > .env": (
                self._make_env
            ),
            "docker compose up": self._all_are_healthy,
            "haproxy": self._check_proxy,
            "docker compose": self._start_satellite,
        }

    def _exec(self, line: str, service: str, command: str) -> None:
        made = self.composition
        command = command.replace("rediss://fleet.example.com:6380", made.broker_address)
        more: dict[str, str] = {}
        if "createsuperuser" in command:
            command += " --no-input --username ann --email ann@example.com"
            more = {"DJANGO_SUPERUSER_PASSWORD": "a password of this test"}
        if service == "postgres":
            command = self._with_own_database(command)
        if "issue_site_token" in command and not self.answers_to("issue_site_token"):
            self._add_site()
        done = made.run(service, ["sh", "-ec", command], timeout_s=240, **more)
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        self.said.append((line, done.stdout))

    def _with_own_database(self, command: str) -> str:
        name = self.composition.database_url.rpartition("/")[2]
        restored = "restored" if command.startswith("pg_restore") else name
        return command.replace("fleet.dump", shlex.quote(str(self.place / "fleet.dump"))).replace(
            " fleet ", f" {restored} "
        )

    def _make_env(self, line: str) -> None:
        words = shlex.split(line)[1:4]
        program = [sys.executable, *words]
        done = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, check=True)
        assert "FLEET_HOST=fleet.example.com\n" in done.stdout

    def _all_are_healthy(self, line: str) -> None:
        for service in ("redis", "postgres", "store", "web", "worker", "beat"):
            self.composition.await_health(service)

    def _check_proxy(self, line: str) -> None:
        environment = self.composition.proxy_environment
        done = subprocess.run(
            shlex.split(line),
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr

    def _add_site(self) -> None:
        code = MAKE_SITE.format(**self._site())
        made = self.composition.run("web", ["python", "manage.py", "shell", "-c", code])
        assert made.returncode == 0, made.stderr

    def _site(self) -> dict[str, str]:
        return {
            "work_dir": str(self.cluster.work_dir / "deploy"),
            "facts_root": str(self.cluster.directory / "roots" / "%N"),
        }

    def _start_satellite(self, line: str) -> None:
        assert line.endswith("satellite")
        place = self.composition.home / "site"
        token = place / "token"
        token.touch(mode=0o600)
        token.write_text(self.answers_to("issue_site_token")[0])
        (place / "site.toml").touch(mode=0o600)
        (place / "site.toml").write_text(self._site_toml(token))
        self.composition.start("satellite")
        self.composition.await_health("satellite")

    def _site_toml(self, token: Path) -> str:
        own = {"name": SITE, **self._site()}
        kept = [
            line
            for line in self.cluster.site_toml.read_text().splitlines()
            if line.partition(" ")[0] not in own
        ]
        head = [f'{key} = "{value}"' for key, value in own.items()]
        authority = f'ca_file = "{self.composition.certificate}"'
        hub = [
            "[hub]",
            f'url = "{self.composition.public_url}"',
            f'token_file = "{token}"',
            authority,
        ]
        url = self.answers_to("broker_users allow")[0].strip()
        return "\n".join([*head, *kept, *hub, "[broker]", f'url = "{url}"', authority, ""])


@pytest.mark.cluster
def test_every_command_leads_where_it_says(
    composition: Composition, cluster: RealCluster, tmp_path: Path
) -> None:
    admin = composition.run(
        "postgres", ["psql", "-d", "postgres", "-c", "CREATE DATABASE restored"]
    )
    assert admin.returncode == 0, admin.stderr
    walk = Walk(composition, cluster, tmp_path)
    for line in commands():
        walk.type(line)

    [checked] = walk.answers_to("site_check")
    assert "site east" in checked
    assert walk.answers_to("broker_users list") == ["east\n"]
    assert walk.answers_to("broker_users remove") == ["site east can use the broker no longer\n"]
    tokens = walk.answers_to("issue_site_token")
    assert len(set(tokens)) == len(tokens) == 2
    rows = ["psql", "-d", "restored", "-Atc", "SELECT name FROM fleet_site"]
    assert composition.run("postgres", rows).stdout == "east\n"


def test_what_is_not_typed_here_is_in_the_document() -> None:
    lines = commands()

    assert [each for each in NOT_HERE if not any(line.startswith(each) for line in lines)] == []


def test_the_proxy_speaks_for_the_hub(composition: Composition) -> None:
    trusting = ssl.create_default_context(cafile=str(composition.certificate))
    request = urllib.request.Request(
        f"{composition.public_url}/login", headers={"X-Forwarded-Proto": "http"}
    )

    with urllib.request.urlopen(request, context=trusting, timeout=20) as answer:
        cookies = answer.headers.get_all("Set-Cookie")
        assert answer.headers["Strict-Transport-Security"]

    assert cookies
    assert all("Secure" in cookie for cookie in cookies)
