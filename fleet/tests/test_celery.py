"""The hub's Celery takes JSON from one queue, and nothing that is out of date."""

import subprocess
import sys

from fleet.celery import BEAT_SCHEDULE, app


def test_only_json_is_read_and_no_stranger_controls_a_worker() -> None:
    assert app.conf.accept_content == ["json"]
    assert app.conf.worker_enable_remote_control is False
    assert [queue.name for queue in app.conf.task_queues] == ["hub"]
    assert app.conf.broker_transport_options["global_keyprefix"] == "hub:"


def test_a_task_that_a_killed_worker_held_comes_back_and_leaves_no_result() -> None:
    assert app.conf.task_acks_late is True
    assert app.conf.worker_prefetch_multiplier == 1
    assert app.conf.task_ignore_result is True
    assert app.conf.task_time_limit < app.conf.broker_transport_options["visibility_timeout"]


def test_every_tick_expires_before_the_next() -> None:
    for name, entry in BEAT_SCHEDULE.items():
        assert entry["options"]["expires"] <= entry["schedule"], name


def test_every_scheduled_task_exists() -> None:
    app.loader.import_default_modules()

    assert {entry["task"] for entry in BEAT_SCHEDULE.values()} <= set(app.tasks)


def test_no_hub_reads_another_packages_tasks() -> None:
    """Asked of a process of its own: other tests have tasks of theirs in this one."""
    program = "from fleet.celery import app; app.loader.import_default_modules(); print(*app.tasks)"
    said = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )

    ours = {name for name in said.stdout.split() if not name.startswith("celery.")}
    assert ours
    assert all(name.startswith("burnin.") for name in ours)
