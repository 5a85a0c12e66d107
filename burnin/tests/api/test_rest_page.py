"""docs/rest.md can be typed as it stands."""

from __future__ import annotations

import os
import re
import subprocess
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from burnin.models import Job
from burnin.models.limits import load_shipped
from burnin.tests.api.callers import text_of_token
from burnin.tests.factories import a_preset, a_site, a_user, nodes_of
from burnin.tests.workflow.trouble import FakeQueue
from burnin.workflow import wiring
from burnin.workflow.bells import Silence
from fleet.access import Role

# One live server serves the whole run, from the database that it began with.
pytestmark = pytest.mark.one_database
PAGE = Path(__file__).parents[3] / "docs" / "rest.md"


def test_every_line_of_the_page_works(
    live_server: LiveServer, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.STORE = f"local:{tmp_path / 'store'}"
    settings.VAR_DIR = tmp_path
    queue = FakeQueue(timezone.now)
    monkeypatch.setattr(wiring, "site_queue", lambda: queue)
    monkeypatch.setattr(wiring, "bells", Silence)
    load_shipped()
    a_preset("quick")
    site = a_site("east", heartbeat_at=timezone.now() + timedelta(minutes=5))
    nodes_of(site, 2)
    token = text_of_token(a_user(Role.OPERATOR, site), ["read", "operate"])
    script = "\n".join(re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text(), re.S | re.M))

    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        env={"PATH": os.environ["PATH"], "HUB": live_server.url, "TOKEN": token},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr}"
    assert Job.objects.get().cancel_reason.endswith("the wrong rack")
    assert '"error":"stat: there is no such filter' in done.stdout
    assert '"operation":"dimm-swap"' in done.stdout
    assert '"usable":["n1"]' in done.stdout
