"""A test sent the way operators' jobs go: planned here, carried by hub and satellite, followed."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from django.core.management.base import OutputWrapper

from burnin.hardware_tests.params import json_object
from burnin.hardware_tests.run_context import BadRunContext
from burnin.management.hardware_tests import verdict
from burnin.models import Job, TestRun
from burnin.models.audit import Actor
from burnin.models.job import JobState
from burnin.slurm import hostlist
from burnin.states import RunState, Verdict
from burnin.workflow import wiring
from burnin.workflow.author_loop import Clock
from burnin.workflow.cancel import CancelRefused, cancel_job
from burnin.workflow.dispatch import usable_nodes
from burnin.workflow.plan import JobRequest, PlanRefused, StepRequest, plan_job
from fleet.management.database import require_tables
from fleet.models import Site

LOOK_EVERY_S = 1.0
WHO = Actor("the command line")
WORST_FIRST = (
    Verdict.FAILED,
    Verdict.INCONCLUSIVE,
    Verdict.ERRORED,
    Verdict.SKIPPED,
    Verdict.MEASURED,
    Verdict.PASSED,
)


def dispatch(
    stdout: OutputWrapper,
    options: dict[str, Any],
    clock: Clock,
    *,
    tell: Callable[[str], None],
    why_stop: Callable[[], str],
) -> int:
    """Plan a job of one test, follow it to its end, and return the exit code of its worst run.

    Raises PlanRefused and DatabaseNotReady.
    """
    require_tables()
    request = _request(options)
    job = plan_job(request, store=wiring.store(), bells=wiring.bells(), now=clock.now())
    stdout.write(f"{options['slug']} at site {request.site.name}, job {job.pk}")
    _follow(job, clock, tell, why_stop)
    runs = list(TestRun.objects.filter(job=job).order_by("created_at"))
    for run in runs:
        write_run(stdout, run)
    return verdict.EXIT_CODES[worst([Verdict(run.verdict) for run in runs])]


def worst(verdicts: list[Verdict]) -> Verdict:
    """Return the verdict that matters most. No run at all was not measured: errored."""
    return min(verdicts, key=WORST_FIRST.index, default=Verdict.ERRORED)


def write_run(stdout: OutputWrapper, run: TestRun) -> None:
    """Print a judged run as `dispatch --local` prints one: metrics, then the verdict."""
    result = getattr(run, "result", None)
    for row in result.metrics.order_by("position") if result else ():
        detail = f"  [{row.detail}]" if row.detail else ""
        stdout.write(f"  {row.label}  {row.value:g} {row.unit}".rstrip() + detail)
    cause = f" ({run.cause})" if run.cause else ""
    stdout.write(f"{_places(run)}: {run.verdict.upper()}{cause}: {run.reason}")


def _request(options: dict[str, Any]) -> JobRequest:
    site = _site(options)
    if options.get("evidence"):
        raise BadRunContext(
            "through the hub, --evidence means nothing: see `hardware_tests debug RUN_ID`"
        )
    if options["resource_class"] is not None:
        raise BadRunContext(
            "the hub judges each node by the class that its inventory names: "
            "leave --resource-class out"
        )
    step = StepRequest(
        slug=options["slug"],
        timeout_minutes=options["timeout"],
        params=json_object(options["slug"], options["params"]),
        iterations=options["iterations"],
    )
    return JobRequest(site, _node_names(site, options), steps=(step,), by=WHO)


def _node_names(site: Site, options: dict[str, Any]) -> list[str]:
    if options["nodelist"] is not None:
        return hostlist.expand_typed(options["nodelist"])
    if options["nodes"] is None:
        raise BadRunContext("the hub sends jobs to known nodes: give --nodelist or --nodes")
    found = usable_nodes(site, at_most=options["nodes"])
    if not 0 < options["nodes"] == len(found):
        raise BadRunContext(
            f"{options['nodes']} nodes were asked for, and site {site.name} has {len(found)} "
            "that can be used"
        )
    return found


def _site(options: dict[str, Any]) -> Site:
    name, partition = options["site"], options["partition"]
    site = Site.objects.filter(name=name).first()
    if site is None:
        known = ", ".join(Site.objects.values_list("name", flat=True)) or "none"
        raise PlanRefused(f"the hub has no site {name!r:.60} (known: {known})")
    if partition not in (None, site.partition):
        raise PlanRefused(f"jobs of site {name} go to its partition {site.partition}")
    return site


def _follow(
    job: Job, clock: Clock, tell: Callable[[str], None], why_stop: Callable[[], str]
) -> None:
    told: dict[str, str] = {}
    is_cancelled = False
    while job.state != JobState.DONE:
        clock.sleep(LOOK_EVERY_S)
        if (reason := why_stop()) and not is_cancelled:
            is_cancelled = True
            tell(f"cancelling: {reason}")
            _cancel(job, reason, clock)
        for run in TestRun.objects.filter(job=job).order_by("created_at"):
            line = _line(run)
            if told.get(str(run.pk)) != line:
                told[str(run.pk)] = line
                tell(line)
        job.refresh_from_db()


def _cancel(job: Job, reason: str, clock: Clock) -> None:
    # A job that is done by now is refused: it keeps the verdict that it has.
    with suppress(CancelRefused):
        cancel_job(job, by=WHO, reason=reason, queue=wiring.site_queue(), now=clock.now())


def _line(run: TestRun) -> str:
    waits = f": {run.waits_because}" if run.waits_because else ""
    state = run.state if run.state != RunState.JUDGED else f"judged, {run.verdict}"
    return f"{_places(run)} {state}{waits}"


def _places(run: TestRun) -> str:
    names = run.members.order_by("position").values_list("node__name", flat=True)
    return ",".join(names)
