"""What docker-compose.yml starts, started here: its very commands, from the files of its images.

No container engine is needed. Only addresses differ: host names and ports become those of this
machine, and a container's directories become some below `home`.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from deploy.cluster import ports
from deploy.compose.make_env import environment_file
from deploy.compose.tests.compose_file import ROOT, dotenv, interpolated, services
from deploy.compose.tests.image_tree import lay_out
from deploy.one_machine.child import TETHER

BIN = Path(sys.executable).parent
PROXY = ROOT / "deploy" / "proxy" / "haproxy.cfg"
IMAGE_OF = {"satellite": "satellite"}  # the others run from the hub's
STARTS_WITHIN_S = 60.0
BUCKET = "artifacts"


class CompositionFailed(AssertionError):
    """A service did not come up in time. Holds the end of its log."""


@dataclass
class Composition:
    """The services of the file, on this machine. `database_url` names an empty PostgreSQL."""

    home: Path
    database_url: str
    variables: dict[str, str] = field(init=False)
    ports: dict[str, int] = field(init=False)
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        example = (ROOT / ".env.example").read_text()
        text = environment_file(example, host="localhost", store_url="http://store:9000")
        password = urlsplit(self.database_url).password or ""
        self.variables = dotenv(text) | {"FLEET_DATABASE_PASSWORD": password}
        names = ("web", "redis", "store", "https", "rediss")
        self.ports = dict(zip(names, ports.reserve(self.home, len(names)), strict=True))
        for image in ("hub", "satellite"):
            lay_out(image, self.home / image)
        for name in ("var", "scratch", "redis", "site", f"store/{BUCKET}"):
            (self.home / name).mkdir(parents=True, mode=0o700)
        (self.home / "bin").mkdir()
        (self.home / "bin" / "wget").symlink_to("/bin/busybox")  # as in the store's image

    # What a service is given

    def here(self, text: str, service: str) -> str:
        """Return a text of the file with this machine's addresses and directories in it."""
        places = {
            "@postgres:5432/fleet": f"@{self.database_url.partition('@')[2]}",
            "redis:6379": f"127.0.0.1:{self.ports['redis']}",
            "store:9000": f"127.0.0.1:{self.ports['store']}",
            "https://localhost": self.public_url,
            "0.0.0.0:8000": f"127.0.0.1:{self.ports['web']}",
            "127.0.0.1:8000": f"127.0.0.1:{self.ports['web']}",
            "0.0.0.0:9000": f"127.0.0.1:{self.ports['store']}",
            "127.0.0.1:9000": f"127.0.0.1:{self.ports['store']}",
            "/var/lib/fleet": str(self.home / "var"),
            "/etc/fleet-satellite": str(self.home / "site"),
            "/etc/fleet/redis.sh": str(ROOT / "deploy" / "compose" / "redis.sh"),
            "/scratch": str(self.home / "scratch"),
            "/tmp/alive": str(self.home / f"{service}.alive"),
        }
        for there, place in places.items():
            text = text.replace(there, place)
        return text

    def environment(self, service: str) -> dict[str, str]:
        given = interpolated(services()[service].get("environment", {}), self.variables)
        here = {name: self.here(str(value), service) for name, value in given.items()}
        if here.get("FLEET_VAR_DIR") == "/tmp":
            here["FLEET_VAR_DIR"] = str(self.home / "scratch")
        if service == "postgres":
            here["PGPORT"] = str(urlsplit(self.database_url).port)
        path = f"{self.home}/bin:{BIN}:/usr/local/bin:/usr/bin:/bin:/usr/sbin"
        return {"PATH": path, "HOME": str(self.home), "PYTHONUNBUFFERED": "1", **here}

    def argv(self, service: str, key: str = "command") -> list[str]:
        found = interpolated([*services()[service].get("entrypoint", [])], self.variables)
        words = [*found, *interpolated(services()[service][key], self.variables)]
        here = [self.here(str(word), service) for word in words]
        if service == "redis":
            here = [
                {"/data": str(self.home / "redis"), "6379": str(self.ports["redis"])}.get(w, w)
                for w in here
            ]
        if service == "store":
            here = [str(self.home / "store") if word == "/store" else word for word in here]
        return here

    def health_argv(self, service: str) -> list[str]:
        kind, *words = interpolated(services()[service]["healthcheck"]["test"], self.variables)
        here = [self.here(str(word), service) for word in words]
        here = [word.replace("-p 6379", f"-p {self.ports['redis']}") for word in here]
        if service == "postgres":
            port = str(urlsplit(self.database_url).port)
            here = [{"5432": port}.get(word, word) for word in here]
        return ["/bin/sh", "-c", *here] if kind == "CMD-SHELL" else here

    @property
    def public_url(self) -> str:
        return f"https://localhost:{self.ports['https']}"

    @property
    def broker_address(self) -> str:
        return f"rediss://localhost:{self.ports['rediss']}"

    @property
    def certificate(self) -> Path:
        return self.home / "fleet.pem"

    @property
    def proxy_environment(self) -> dict[str, str]:
        """Return what deploy/proxy/haproxy.cfg asks for."""
        listening = {name.upper(): f"127.0.0.1:{port}" for name, port in self.ports.items()}
        return {
            "PATH": "/usr/sbin:/usr/bin:/bin",
            "FLEET_CERTIFICATE": str(self.certificate),
            "FLEET_STORE_HOST": "s3.example.com",
            "FLEET_HTTPS": listening["HTTPS"],
            "FLEET_REDISS": listening["REDISS"],
            "FLEET_WEB_LISTEN": listening["WEB"],
            "FLEET_STORE_LISTEN": listening["STORE"],
            "FLEET_REDIS_LISTEN": listening["REDIS"],
        }

    def directory(self, service: str) -> Path:
        return self.home / IMAGE_OF.get(service, "hub")

    # Running it

    def run(
        self, service: str, argv: Sequence[str], *, timeout_s: float = 120, **more: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a command as `docker compose exec SERVICE …` would."""
        return subprocess.run(
            list(argv),
            cwd=self.directory(service),
            env=self.environment(service) | more,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )

    def start(self, service: str) -> None:
        self._start(service, self.argv(service), self.environment(service))

    def start_proxy(self) -> None:
        """Start the proxy of docs/deploy.md with a certificate of its own."""
        key = self.home / "key.pem"
        subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
        make = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
        files = ["-nodes", "-days", "2", "-keyout", str(key), "-out", str(self.certificate)]
        subprocess.run([*make, *files, *subject], check=True, capture_output=True, timeout=60)
        with self.certificate.open("a") as both:
            both.write(key.read_text())
        self._start("proxy", ["haproxy", "-db", "-f", str(PROXY)], self.proxy_environment)

    def _start(self, service: str, argv: Sequence[str], environment: Mapping[str, str]) -> None:
        with self.log(service).open("ab") as log:
            self.running[service] = subprocess.Popen(
                [*TETHER, *argv],
                cwd=self.directory(service),
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def health(self, service: str) -> subprocess.CompletedProcess[str]:
        return self.run(service, self.health_argv(service), timeout_s=30)

    def await_health(self, service: str) -> None:
        """Ask as Docker would until the service is healthy."""
        deadline = time.monotonic() + STARTS_WITHIN_S
        while (said := self.health(service)).returncode:
            ended = service in self.running and self.running[service].poll() is not None
            if ended or time.monotonic() > deadline:
                log = self.log(service).read_text() if self.log(service).exists() else ""
                raise CompositionFailed(f"{service}: {said.stdout}{said.stderr}\n{log[-3000:]}")
            time.sleep(0.3)

    def kill(self, service: str) -> None:
        process = self.running.pop(service)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(timeout=20)

    def stop(self) -> None:
        for service in list(self.running):
            self.kill(service)

    def log(self, service: str) -> Path:
        return self.home / f"{service}.log"
