"""The whole product at work: hub worker, beat, web and satellite as processes of their own."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import cache

from django.db import connection

from bench import hub
from bench.place import HELD, NODES, OPEN, Place
from bench.processes import end_what_names, seconds_of_sessions
from burnin.models import Attempt, Job, TestRun
from burnin.models.audit import Actor
from burnin.models.job import JobState
from burnin.states import RunState
from burnin.tests.e2e.stack import SITE, Stack
from burnin.workflow import cancel, plan, wiring
from fleet.models import Site
from runner.contract.slugs import Slugs

LOOK_S = 0.1
NODES_USED = 50  # of NODES, so that 200, 1,000 and 10,000 runs are whole steps on all of them
TIMEOUT_MINUTES = 5
HUB = ("web", "worker", "beat")


class NotDone(Exception):
    """The product did not get where it should in time."""


def running(place: Place) -> Product:
    """Return the product at work, brought up if it is not; it ends when `place` stops."""
    product = _product(place)
    if not product.is_up:
        place.at_the_end(product.stop)
        product.start()
    return product


@cache
def _product(place: Place) -> Product:
    return Product(
        Stack(
            place.home / "hub",
            place.cluster,
            place.services,
            venv_home=place.home,
            database=hub.DATABASE,
            pace=("[pace]",),  # as it ships
            port=place.port,
        )
    )


class Product:
    """Jobs are planned in this process, as the command line does; all else is the processes'."""

    def __init__(self, stack: Stack) -> None:
        self._stack, self.is_up = stack, False
        self.node_names = [f"n{number}" for number in range(1, NODES + 1)][:NODES_USED]

    def start(self) -> None:
        end_what_names(self._stack.home)
        shutil.rmtree(self._stack.home, ignore_errors=True)
        with ExitStack() as until_it_is_open:
            # What came up must not meddle with the next part, nor outlive a Ctrl-C.
            until_it_is_open.callback(self._stack.stop)
            self._stack.open_site()
            until_it_is_open.pop_all()
        # A bench must not be held back by what protects a site: it hands over all it has.
        Site.objects.filter(name=SITE).update(queue_ahead=1000, max_in_flight=100_000)
        self.is_up = True

    def stop(self) -> None:
        self._stack.stop()
        self.is_up = False

    def site(self) -> Site:
        return Site.objects.get(name=SITE)

    def start_job(self, runs: int) -> Job:
        """Ask for that many hello-world runs, spread over the nodes."""
        step = plan.StepRequest(Slugs.HELLO_WORLD, TIMEOUT_MINUTES)
        request = plan.JobRequest(
            site=self.site(), node_names=self.node_names, steps=[step] * (runs // NODES_USED)
        )
        return plan.plan_job(request, store=wiring.store(), bells=wiring.bells(), now=now())

    def hold(self) -> None:
        """Send jobs to the partition that never starts one."""
        self._use(HELD)

    def let_go(self) -> None:
        self._use(OPEN)

    def _use(self, partition: str) -> None:
        """Change the partition as if it had been checked: a check of one that is down fails."""
        site = self.site()
        site.partition = partition
        site.checked_configuration = site.configuration_digest()
        site.save(update_fields=["partition", "checked_configuration"])

    def cancel(self, job: Job) -> None:
        cancel.cancel_job(
            job, by=Actor("bench"), reason="measured", queue=wiring.site_queue(), now=now()
        )

    def await_state(self, job: Job, state: RunState, runs: int, *, for_s: float) -> None:
        await_(lambda: TestRun.objects.filter(job=job, state=state).count() == runs,
               f"{runs} runs are {state}", for_s=for_s)  # fmt: skip

    def await_end(self, job: Job, *, for_s: float) -> None:
        done = Job.objects.filter(pk=job.pk, state=JobState.DONE)
        await_(done.exists, "the job is done", for_s=for_s)

    def verdicts(self, job: Job) -> dict[str, int]:
        found: dict[str, int] = {}
        for verdict in TestRun.objects.filter(job=job).values_list("verdict", flat=True):
            found[verdict] = found.get(verdict, 0) + 1
        return found

    def attempts(self, job: Job) -> list[Attempt]:
        return list(Attempt.objects.filter(run__job=job).select_related("run").order_by("pk"))

    def cpu_s(self) -> Mapping[str, float]:
        """Return the CPU seconds that each process has used so far, its children's included."""
        return {
            name: seconds_of_sessions([process.pid])
            for name, process in self._stack.running.items()
        }


def await_(holds: Callable[[], bool], what: str, *, for_s: float) -> None:
    deadline = time.monotonic() + for_s
    while not holds():
        if time.monotonic() > deadline:
            raise NotDone(f"not within {for_s:.0f} s: {what}; {_where_runs_stand()}")
        time.sleep(LOOK_S)


def _where_runs_stand() -> str:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT state, verdict, waits_because, count(*) FROM burnin_testrun"
            " WHERE state <> 'judged' GROUP BY 1, 2, 3 ORDER BY 4 DESC LIMIT 5"
        )
        return f"unjudged runs: {cursor.fetchall()}"


def now() -> datetime:
    return datetime.now(UTC)
