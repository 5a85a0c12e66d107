"""Has the site send what a live log has grown by, while somebody looks at it."""

import logging
from datetime import datetime, timedelta

from django.db.models import Q

from burnin.models import Attempt, TestRun
from burnin.satellite.messages import TailOrder, TaskName
from burnin.states import RunState
from burnin.workflow import logs
from burnin.workflow.site_queue import QueueUnreachable, SiteQueue
from burnin.workflow.sites import why_silent

log = logging.getLogger(__name__)

ASKED_EVERY = timedelta(seconds=2)
ORDER_LIVES_S = 20  # so few of them wait for a satellite that is busy
LIVE = frozenset({RunState.SUBMITTED, RunState.RUNNING, RunState.FINISHED})


def follow_log(run: TestRun, name: str = "stdout.txt", *, queue: SiteQueue, now: datetime) -> str:
    """Ask for the new bytes of the run's log, however often called at most every two seconds.

    Returns at once: the bytes come as facts, and `logs.read_log` then has them. The answer is ""
    or the sentence why none will come now. Raises NoSuchLog.
    """
    if name not in logs.NAMES:
        raise logs.NoSuchLog(name)
    attempt = run.attempts.filter(number=run.attempt_number).first()
    if RunState(run.state) not in LIVE or attempt is None:
        return ""
    if why := why_silent(run.site, now):
        return why
    if not _is_due(attempt, now):
        return ""
    order = TailOrder.model_validate(
        {
            "run_id": str(run.pk),
            "attempt": attempt.number,
            "name": name,
            "offset": logs.size(attempt.token, name),
        }
    )
    try:
        queue.send(run.site.name, TaskName.TAIL, order, expires_s=ORDER_LIVES_S)
    except QueueUnreachable as error:
        log.warning("%s of run %s is not followed: %s", name, run.pk, error)
        return f"the log cannot be asked for just now: {error}"
    return ""


def _is_due(attempt: Attempt, now: datetime) -> bool:
    """Note that it is asked for now, unless somebody else just did."""
    is_due = Q(log_asked_at=None) | Q(log_asked_at__lte=now - ASKED_EVERY)
    due = Attempt.objects.filter(is_due, pk=attempt.pk)
    return bool(due.update(log_asked_at=now))
