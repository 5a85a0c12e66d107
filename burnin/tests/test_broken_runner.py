"""An executor that cannot be imported: every door says file, line and what to do."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from pytest_django import Settings

from burnin import runner_bundle, tasks
from burnin.models import TestRun
from burnin.states import Cause, RunState, Verdict
from burnin.tests.api.callers import caller, post
from burnin.tests.dashboards.reading import page_text
from burnin.tests.factories import a_preset, a_user
from burnin.tests.workflow.simulated import make_hub
from burnin.tests.workflow.test_tasks import Rings, wire
from burnin.workflow import wiring
from fleet.access import Role
from runner.contract.slugs import Slugs

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]
HELLO, SOURCE = Slugs.HELLO_WORLD, runner_bundle.SOURCE
SAYS = (
    "the runner does not start: runner/executors/hello_world.py, line 2: "
    "SyntaxError: invalid syntax; mend it, then ask again"
)


@pytest.fixture(autouse=True)
def broken_runner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> Iterator[Path]:
    """A copy of the runner in which one executor was left half-written."""
    source = tmp_path / "runner"
    shutil.copytree(runner_bundle.SOURCE, source, ignore=shutil.ignore_patterns("tests"))
    executor = source / "executors/hello_world.py"
    executor.write_text('"""Half-written."""\ndef execute(:\n')
    monkeypatch.setattr(runner_bundle, "SOURCE", source)
    settings.VAR_DIR = tmp_path / "var"
    wiring.hub_bundle.cache_clear()
    yield executor
    wiring.hub_bundle.cache_clear()


@pytest.mark.parametrize("verb", ["generate-sbatch", "dispatch"])
def test_the_author_is_told_on_the_command_line(
    verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slurm_conf = tmp_path / "slurm.conf"
    slurm_conf.touch()
    monkeypatch.setenv("SLURM_CONF", str(slurm_conf))
    more = ("--local",) if verb == "dispatch" else ()

    with pytest.raises(CommandError) as refused:
        call_command("hardware_tests", verb, HELLO, "--partition=x", "--timeout=5", *more)

    assert (str(refused.value), refused.value.returncode) == (SAYS, 64)


def test_page_and_rest_say_it_before_a_job_is_started(client: Client) -> None:
    hub = make_hub("n1")
    a_preset("quick", HELLO)
    olga = a_user(Role.OPERATOR, hub.site_row, name="olga")
    client.force_login(olga)

    page = page_text(client, "/jobs/new?preset=quick&site=east&by=hostlist&hosts=n1")
    body = {"site": "east", "nodes": ["n1"], "preset": "quick"}
    answer = post(caller(olga), "jobs/dry-run", body)

    assert SAYS.partition(": ")[2] in page
    assert (answer.status_code, answer.json()) == (503, {"error": SAYS})


def test_in_the_worker_a_job_ends_errored_and_no_hardware_is_blamed(
    broken_runner: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub, whole = make_hub("n1", "n2"), wiring.hub_bundle
    hub.plan()
    wire(hub, monkeypatch)
    monkeypatch.setattr(wiring, "hub_bundle", whole)
    monkeypatch.setattr(wiring, "bells", Rings)

    tasks.dispatch_site(site_id=hub.site_row.pk)

    for run in TestRun.objects.all():
        assert (run.state, run.verdict, run.cause) == (
            RunState.JUDGED,
            Verdict.ERRORED,
            Cause.INFRASTRUCTURE,
        )
        assert run.reason == SAYS

    shutil.copy(SOURCE / "executors/hello_world.py", broken_runner)
    hub.plan()
    tasks.dispatch_site(site_id=hub.site_row.pk)

    assert TestRun.objects.filter(state=RunState.DISPATCHED).count() == 2
