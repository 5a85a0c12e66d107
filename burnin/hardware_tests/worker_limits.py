"""What ends the worker that judges: it says nothing of the run, which is judged another time."""

from celery.exceptions import SoftTimeLimitExceeded

WORKER_LIMITS = (MemoryError, SoftTimeLimitExceeded)
