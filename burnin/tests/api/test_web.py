"""The API as gunicorn serves it: real sockets, torn bodies, uploads by the runner itself."""

from __future__ import annotations

import http.client
import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from burnin.storage.grants import GrantSigner
from burnin.storage.local import LocalStore
from burnin.tests.api.conftest import FACTS, heartbeat
from deploy.cluster import processes

pytestmark = pytest.mark.xdist_group("web")  # one web serves them all

ROOT = Path(__file__).resolve().parents[3]
BIN = Path(sys.executable).parent
SECRET = "a secret of this test's hub, long enough for anyone"
LISTENING = re.compile(r"Listening at: (http://[0-9.]+:[0-9]+)")
ISSUE = """
from fleet.models import Site, SiteToken
site = Site.objects.create(name="east", partition="main", work_dir="/work")
print(SiteToken.issue(site))
"""

UPLOAD = """
import sys, time
from pathlib import Path
from runner.upload import Uploader
Uploader(deadline=time.monotonic() + 20).put(Path(sys.argv[1]), sys.argv[2])
"""


@dataclass(frozen=True)
class Web:
    """A running web process of a hub on SQLite, and what it was given."""

    url: str
    token: str
    store: LocalStore
    store_root: Path
    log: Path

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=20)

    def ask(
        self, method: str, path: str, body: bytes = b"", **headers: str
    ) -> tuple[int, dict[str, Any]]:
        connection = self.connect()
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    def files(self) -> list[Path]:
        return [path for path in self.store_root.rglob("*") if path.is_file()]


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    home = tmp_path_factory.mktemp("web")
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "DJANGO_SETTINGS_MODULE": "fleet.settings",
        "FLEET_VAR_DIR": str(home / "var"),
        "FLEET_SECRET_KEY": SECRET,
        "FLEET_STORE": f"local:{home / 'store'}",
        "FLEET_DATABASE_URL": f"sqlite:///{home / 'fleet.sqlite3'}",
    }
    _manage(environment, "migrate", "--verbosity", "0")
    token = _manage(environment, "shell", "--verbosity", "0", "--command", ISSUE).split()[-1]
    log = home / "web.log"
    command = [str(BIN / "gunicorn"), "fleet.wsgi", "--bind", "127.0.0.1:0", "--no-control-socket"]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, "--worker-class", "gthread", "--threads", "4"],
            cwd=ROOT,
            env=environment,
            stdout=output,
            stderr=output,
        )
    try:
        url = _address(process, log)
        (home / "store").mkdir(mode=0o700, exist_ok=True)
        store = LocalStore(home / "store", public_url=url, signer=GrantSigner(SECRET))
        yield Web(url, token, store, home / "store", log)
    finally:
        process.terminate()
        process.wait(timeout=20)


def _manage(environment: dict[str, str], *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    def found() -> re.Match[str] | None:
        return LISTENING.search(log.read_text())

    processes.wait_until(lambda: found() is not None or process.poll() is not None, timeout_s=60)
    said = found()
    assert said, log.read_text()
    return said[1]


def test_a_heartbeat_is_recorded(web: Web) -> None:
    body = json.dumps({"facts": [heartbeat("a")]}).encode()
    headers = {"Authorization": f"Bearer {web.token}", "Content-Type": "application/json"}

    status, answer = web.ask("POST", FACTS, body, **headers)

    assert (status, answer) == (200, {"acknowledged": ["a"], "refused": []})


def test_the_runner_uploads_and_the_store_has_it(web: Web, tmp_path: Path) -> None:
    content = os.urandom(5 << 20)
    (tmp_path / "stdout.txt").write_bytes(content)
    url = web.store.upload_url("incoming/east/a.1/stdout.txt", expires_s=60, max_bytes=len(content))

    assert _uploaded_by_runner(tmp_path / "stdout.txt", url) == ""

    web.store.fetch("incoming/east/a.1/stdout.txt", tmp_path / "fetched", max_bytes=len(content))
    assert (tmp_path / "fetched").read_bytes() == content


def test_the_runner_is_told_no_at_once(web: Web, tmp_path: Path) -> None:
    (tmp_path / "stdout.txt").write_bytes(bytes(5 << 20))
    url = web.store.upload_url("incoming/east/b.1/stdout.txt", expires_s=60, max_bytes=100)

    said = _uploaded_by_runner(tmp_path / "stdout.txt", url)

    assert "stdout.txt was not uploaded: the store answered 413" in said
    assert "signature" not in said
    assert web.store.sizes("incoming/east/b.1") == {}


def _uploaded_by_runner(path: Path, url: str) -> str:
    """Upload as a node does, in a process that holds no hub; return what it complained of."""
    command = [sys.executable, "-c", UPLOAD, str(path), url]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    return done.stderr


def test_a_body_in_chunks_is_refused_by_both(web: Web) -> None:
    url = web.store.upload_url("incoming/east/c.1/stdout.txt", expires_s=60, max_bytes=100)
    facts = {"Authorization": f"Bearer {web.token}", "Content-Type": "application/json"}

    uploaded, told = _in_chunks(web, "PUT", url.removeprefix(web.url), {})
    posted, _ = _in_chunks(web, "POST", FACTS, facts)

    assert (uploaded, posted) == (411, 411)
    assert "Content-Length" in told["error"]
    assert web.store.sizes("incoming/east/c.1") == {}


def _in_chunks(
    web: Web, method: str, path: str, headers: dict[str, str]
) -> tuple[int, dict[str, Any]]:
    connection = web.connect()
    try:
        connection.request(method, path, iter([b"ab", b"cd"]), headers, encode_chunked=True)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


@pytest.mark.parametrize("path", [FACTS, ""])
def test_a_body_that_ends_early_leaves_nothing(web: Web, path: str) -> None:
    url = web.store.upload_url("incoming/east/d.1/stdout.txt", expires_s=60, max_bytes=1000)
    method, target = ("POST", path) if path else ("PUT", url.removeprefix(web.url))
    head = (
        f"{method} {target} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n"
        f"Authorization: Bearer {web.token}\r\nContent-Type: application/json\r\n\r\n"
    )
    address = urlsplit(web.url)

    with socket.create_connection((address.hostname, address.port), timeout=20) as client:
        client.sendall(head.encode() + b"only this")
        client.shutdown(socket.SHUT_WR)
        answer = b"".join(iter(lambda: client.recv(65536), b""))

    assert answer.startswith(b"HTTP/1.1 400")
    assert b"send it again" in answer
    assert not [file for file in web.files() if "d.1" in str(file) or ".torn" in str(file)]


def test_a_killed_upload_leaves_no_object(web: Web) -> None:
    url = web.store.upload_url("incoming/east/e.1/stdout.txt", expires_s=60, max_bytes=1 << 20)
    address = urlsplit(web.url)
    with socket.create_connection((address.hostname, address.port), timeout=20) as client:
        head = f"PUT {url.removeprefix(web.url)} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        client.sendall(f"{head}Content-Length: 1048576\r\n\r\n".encode() + bytes(600_000))
        assert processes.wait_until(lambda: _half_written(web), timeout_s=20)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # reset

    assert processes.wait_until(lambda: not _half_written(web), timeout_s=20)
    assert web.store.sizes("incoming/east/e.1") == {}


def _half_written(web: Web) -> bool:
    return any(".torn" in str(file) for file in web.files())


def test_nothing_in_the_log_can_be_used_again(web: Web) -> None:
    url = web.store.upload_url("incoming/east/f.1/stdout.txt", expires_s=60, max_bytes=10)
    web.ask("POST", FACTS, b"{", Authorization=f"Bearer {web.token}")
    web.ask("PUT", url.removeprefix(web.url).replace("f.1", "f.2"), b"x")

    log = web.log.read_text()

    assert web.token not in log
    assert "signature=" not in log
    assert "Traceback" not in log
