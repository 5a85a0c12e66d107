"""Bells as Celery tasks in the hub's own queue."""

import logging

from celery import current_app
from kombu.exceptions import KombuError
from redis.exceptions import RedisError

from burnin.workflow.bells import Bell

log = logging.getLogger(__name__)

RING_LASTS_S = 30  # then a tick has rung as well
TASKS = {
    Bell.DISPATCH: "burnin.tasks.dispatch_site",
    Bell.COLLECT: "burnin.tasks.collect_site",
}


class CeleryBells:
    """Obeys Bells. A broker that is away costs a delay and no fact."""

    def ring(self, bell: Bell, site_id: int) -> None:
        try:
            current_app.send_task(
                TASKS[bell], kwargs={"site_id": site_id}, expires=RING_LASTS_S, retry=False
            )
        except (KombuError, RedisError, OSError) as error:
            log.warning("the bell %s was not heard, the next tick does it: %s", bell, error)
