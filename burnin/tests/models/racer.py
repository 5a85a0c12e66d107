"""A process that moves runs against others of its kind: `seed COUNT`, `race SEED`, `tally 0`."""

import json
import os
import random
import sys
from collections import Counter
from datetime import timedelta
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "fleet.settings")
django.setup()

from burnin.models import Job, TestRun, TestRunEvent  # noqa: E402  (needs the setup above)
from burnin.states import RunState  # noqa: E402
from burnin.tests.models.world import NOW, counters, planned, recount  # noqa: E402

CHUNK = 40
WAY = [
    (RunState.PLANNED, RunState.DISPATCHED),
    (RunState.DISPATCHED, RunState.SUBMITTED),
    (RunState.SUBMITTED, RunState.RUNNING),
    (RunState.RUNNING, RunState.FINISHED),
]


def seed(count: int) -> object:
    return len(planned(count))


def race(number: int) -> object:
    """Once told to, move every run along the whole way, in an order of our own."""
    dice = random.Random(number)
    ids = list(TestRun.objects.values_list("pk", flat=True))
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    moved = 0
    for before, after in WAY:
        dice.shuffle(ids)
        for start in range(0, len(ids), CHUNK):
            chunk = ids[start : start + CHUNK]
            changes: dict[str, Any] = {"attempt_number": 1} if before is RunState.PLANNED else {}
            moved += len(TestRun.objects.move(chunk, before, after, now=NOW, **changes))
    claimed = TestRun.objects.claim(ids, RunState.FINISHED, for_=timedelta(minutes=5), now=NOW)
    return {"moved": moved, "claimed": len(claimed)}


def tally(_: int) -> object:
    job = Job.objects.get()
    assert counters(job) == recount(job)
    return Counter(TestRunEvent.objects.values_list("after", flat=True))


if __name__ == "__main__":
    act = {"seed": seed, "race": race, "tally": tally}[sys.argv[1]]
    sys.stdout.write(json.dumps(act(int(sys.argv[2]))))
