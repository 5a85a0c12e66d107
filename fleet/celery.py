"""The hub's Celery. It rings bells; the database says what is to be done."""

import os
from typing import Any

from celery import Celery
from django.conf import settings
from kombu import Exchange, Queue

from burnin.pulse import give_pulse

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "fleet.settings")

QUEUE = "hub"
KEY_PREFIX = "hub:"

# name -> {"task": …, "schedule": seconds, "options": {"expires": seconds}}. A tick that was not
# taken before the next one is worth nothing: every entry has `expires`.
BEAT_SCHEDULE: dict[str, dict[str, Any]] = {
    "tick": {"task": "burnin.tasks.tick", "schedule": 10.0, "options": {"expires": 10}},
    "reconcile": {
        "task": "burnin.tasks.reconcile_sites",
        "schedule": 30.0,
        "options": {"expires": 30},
    },
    "look-around": {
        "task": "burnin.tasks.look_around",
        "schedule": 10.0,
        "options": {"expires": 10},
    },
    "weigh": {
        "task": "burnin.tasks.weigh_standings",
        "schedule": 15.0,
        "options": {"expires": 15},
    },
    "forget-old-logs": {
        "task": "burnin.tasks.forget_old_logs",
        "schedule": 3600.0,
        "options": {"expires": 3600},
    },
}

app = Celery("fleet")
app.conf.update(
    broker_url=settings.BROKER_URL,
    broker_transport="burnin.satellite.transport:Transport",  # outlives a broker that dies
    broker_connection_retry_on_startup=True,
    broker_connection_max_retries=None,  # a worker that gives up would not come back with Redis
    broker_transport_options={
        "global_keyprefix": KEY_PREFIX,
        "priority_steps": [0],
        # A task that outlives it is delivered again; every task may be carried out twice.
        "visibility_timeout": 600,
        "socket_timeout": 30,
        "socket_connect_timeout": 5,
        "health_check_interval": 25,
        # Who rings a bell must not wait for a broker that is away. Workers try again by themselves.
        "max_retries": 1,
        "interval_start": 0,
        "interval_step": 0,
        "interval_max": 0,
    },
    accept_content=["json"],
    task_serializer="json",
    result_serializer="json",
    task_ignore_result=True,
    task_acks_late=True,
    task_default_queue=QUEUE,
    task_queues=(Queue(QUEUE, Exchange(QUEUE), routing_key=QUEUE),),
    task_default_exchange=QUEUE,
    task_default_routing_key=QUEUE,
    task_soft_time_limit=540,
    task_time_limit=570,
    worker_prefetch_multiplier=1,
    worker_enable_remote_control=False,
    worker_send_task_events=False,
    worker_hijack_root_logger=False,
    enable_utc=True,
    timezone="UTC",
    beat_schedule=BEAT_SCHEDULE,
    beat_schedule_filename=str(settings.VAR_DIR / "celerybeat-schedule"),
)
app.autodiscover_tasks()
give_pulse(app)
