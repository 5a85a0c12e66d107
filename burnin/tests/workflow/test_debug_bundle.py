"""What is gathered of a run can be given away."""

import base64
import io
import json
import tarfile
import uuid
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from burnin.models import TestRun
from burnin.satellite.messages import LogPart
from burnin.tests.workflow.simulated import Hub, make_hub
from burnin.workflow import logs, wiring
from burnin.workflow.debug_bundle import debug_bundle

pytestmark = pytest.mark.django_db


def judged_run(hub: Hub) -> TestRun:
    hub.plan()
    hub.advance(60, tick_s=5)
    return TestRun.objects.get()


def test_a_bundle_tells_the_whole_story() -> None:
    hub = make_hub("n1")
    run = judged_run(hub)
    token = run.attempts.get().token
    content = base64.b64encode(b"hello\n")
    about = {"run_id": token.run_id, "attempt": 1, "name": "stdout.txt", "offset": 0}
    logs.write(token, LogPart.model_validate({**about, "content": content}))

    files = debug_bundle(run, store=hub.store, now=hub.now)

    assert files["attempt-1/script.sh"].startswith(b"#!/bin/bash")
    assert files["attempt-1/tail-stdout.txt"] == b"hello\n"
    assert json.loads(files["attempt-1/slurm.json"])["slurm_state"] == "COMPLETED"
    assert json.loads(files["run.json"])["nodes"] == ["n1"]
    assert json.loads(files["result.json"])["metrics"][0]["value"] == 1
    history = files["history.txt"].decode()
    states = ["planned", "dispatched", "submitted", "running", "finished", "judged"]
    assert [line.split("-> ")[1].split()[0] for line in history.splitlines()] == states


def test_its_links_can_read_and_nothing_in_it_can_write() -> None:
    hub = make_hub("n1")
    run = judged_run(hub)

    files = debug_bundle(run, store=hub.store, now=hub.now)

    links = [
        line.strip()
        for line in files["attempt-1/links.txt"].decode().splitlines()
        if line.strip().startswith("memory://")
    ]
    assert len(links) == 5
    assert {hub.store.send(link)[0] for link in links} == {200}
    hub.site.cluster.advance(301)
    assert {hub.store.send(link)[0] for link in links} == {403}
    assert {hub.store.receive(link, b"x") for link in links} == {403}
    everything = b"".join(files.values()).decode()
    for url in hub.site.uploads[run.attempts.get().token].values():
        assert url not in everything


def test_a_store_that_is_away_costs_the_links_only() -> None:
    hub = make_hub("n1")
    run = judged_run(hub)
    hub.store.is_reachable = False

    files = debug_bundle(run, store=hub.store, now=hub.now)

    assert "run.json" in files


def test_the_command_writes_one_file(monkeypatch: pytest.MonkeyPatch) -> None:
    hub = make_hub("n1")
    run = judged_run(hub)
    monkeypatch.setattr(wiring, "store", lambda: hub.store)
    said = io.StringIO()

    call_command("hardware_tests", "debug", f"{run.pk}:1", stdout=said)

    path = Path(said.getvalue().splitlines()[-1])
    assert path == settings.VAR_DIR / "debug" / f"{run.pk}.tar.gz"
    with tarfile.open(path) as archive:
        assert f"{run.pk}/attempt-1/script.sh" in archive.getnames()


def test_the_first_digits_that_pages_show_name_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    hub = make_hub("n1")
    run = judged_run(hub)
    monkeypatch.setattr(wiring, "store", lambda: hub.store)
    said = io.StringIO()

    call_command("hardware_tests", "debug", run.pk.hex[:8].upper(), stdout=said)

    assert said.getvalue().splitlines()[-1].endswith(f"{run.pk}.tar.gz")


def test_first_digits_of_several_runs_name_each_of_them() -> None:
    make_hub("n1").plan()
    run = TestRun.objects.get()
    ids = [uuid.UUID("a1b2c3d4" + last.zfill(24)) for last in ("1", "2")]
    for run.pk in ids:
        run.save(force_insert=True)

    with pytest.raises(CommandError) as refused:
        call_command("hardware_tests", "debug", "a1b2c3d4")

    assert str(refused.value).startswith("several runs begin with a1b2c3d4: ")
    assert all(str(each) in str(refused.value) for each in ids)
    assert str(refused.value).endswith("; give more digits")


@pytest.mark.parametrize("run_id", ["x", "a1b", "a1b2c3d4", "00000000-0000-0000-0000-000000000000"])
def test_a_run_that_is_not_there_gets_one_sentence(run_id: str) -> None:
    with pytest.raises(CommandError) as refused:
        call_command("hardware_tests", "debug", run_id)

    assert "\n" not in str(refused.value)
