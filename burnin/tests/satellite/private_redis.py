"""A Redis of a test's own, with a user for each site, that can be killed and started again."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

from celery import Celery

from burnin.satellite import broker
from deploy import redis_acl
from deploy.cluster import ports
from deploy.one_machine.child import TETHER

HUB_PASSWORD = "hub-password"


class PrivateRedis:
    """Keeps what it is given over a restart, as the real broker does."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.port = ports.reserve(directory, 1).start
        (directory / "users.acl").write_text(
            f"user default off\nuser hub on >{HUB_PASSWORD} ~* &* +@all\n"
        )
        (directory / "redis.conf").write_text(
            f"bind 127.0.0.1\nport {self.port}\ndir {directory}\naclfile {directory}/users.acl\n"
            'save ""\nappendonly yes\n'
        )
        self.start()

    def start(self) -> None:
        with (self._directory / "redis.log").open("ab") as log:
            self._process = subprocess.Popen(
                [*TETHER, "redis-server", str(self._directory / "redis.conf")],
                stdout=log,
                stderr=log,
            )
        for _ in range(1200):
            if self.cli("PING") == "PONG":
                return
            time.sleep(0.05)
        raise AssertionError("redis-server did not answer within a minute")

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def cli(self, *words: str, user: str = "hub", password: str = HUB_PASSWORD) -> str:
        """Run one command and return what Redis says, be it an error."""
        done = subprocess.run(
            ["redis-cli", "-p", str(self.port), "--user", user, "--no-auth-warning", *words],
            env={**os.environ, "REDISCLI_AUTH": password},
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
        )
        return (done.stdout + done.stderr).strip()

    def add_site(self, name: str) -> str:
        """Make the site's user and return the URL for its satellite."""
        redis_acl.allow_site(self.cli, name, "site-password")
        self.cli("ACL", "SAVE")
        return f"redis://site-{name}:site-password@127.0.0.1:{self.port}/0"

    def queue(self, site: str, *, url: str = "") -> Celery:
        """Return an app that sends orders to a site, as the hub or as whoever `url` is."""
        app = Celery(set_as_current=False)
        app.conf.update(
            broker_url=url or f"redis://hub:{HUB_PASSWORD}@127.0.0.1:{self.port}/0",
            broker_transport_options=broker.transport_options(site),
            task_queues=(broker.orders_queue(),),
            task_ignore_result=True,
        )
        return app

    def send(self, site: str, task: str, order: object, *, url: str = "") -> None:
        with self.queue(site, url=url) as app:
            app.send_task(task, kwargs={"order": order}, queue=broker.ORDERS)
