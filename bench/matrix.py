"""P9 and P10: the page of a job of 1,000 nodes and 30 tests, with little history and with much.

P9: the page over HTTP with 5 million results in the database, against 50,000.
P10: the same page over HTTP, against the statements it sends, sent bare.
"""

from __future__ import annotations

import urllib.request
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from importlib import import_module
from statistics import median

import psycopg
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import User
from django.db import connection as hubs
from django.test import Client
from django.test.utils import CaptureQueriesContext

from bench import history, hub
from bench.place import Place
from bench.product import now
from bench.sampling import Pair, alternate, seconds
from bench.table import Line, Target, at_most
from burnin.models import Attempt, Job, JobNode, MetricRow, RunNode, TestResult, TestRun
from burnin.models.job import JobState, JobVerdict
from burnin.models.severity import Severity
from burnin.models.verdicts import RunVerdict, record_verdicts
from burnin.states import Cause, RunState, Verdict
from burnin.tests.e2e.stack import Stack
from burnin.workflow import plan
from fleet.models import Node, ResourceClass, Site
from runner.contract.slugs import Slugs

NODES, TESTS = 1_000, 30
LITTLE, MUCH = 50_000, 5_000_000
LOOKS = 40
GROWTH, OVERHEAD = at_most(1.2, 1.1), at_most(6, 4)


def measure(place: Place) -> Sequence[Line]:
    with hub.nothing_left():
        with _superuser(place) as rows:
            pattern, job, node_ids = _pattern()
            own = history.Runs(str(job.pk), node_ids, NODES * TESTS)
            history.write(rows, pattern, own, first=1)
            _pad(rows, pattern, node_ids, own.count, LITTLE)
        cookie = _cookie()
        with _copied(place) as little, _superuser(place) as rows:
            _pad(rows, pattern, node_ids, LITTLE, MUCH)
            with _web(place, hub.DATABASE) as address, _web(place, little) as before:
                page, with_little = (
                    _page(f"{each}/jobs/{job.pk}/", cookie) for each in (address, before)
                )
                growth = alternate(
                    lambda: seconds(page), lambda: seconds(with_little), rounds=LOOKS
                )
                bare = _bare(place, job)
                overhead = alternate(lambda: seconds(page), lambda: seconds(bare), rounds=LOOKS)
    return [
        _line(
            "P9",
            "job matrix page, 5 M results",
            pair=growth,
            target=GROWTH,
            note=f"reference: the same page with {LITTLE:,} results, in turn; {NODES:,} nodes × "
            f"{TESTS} tests, medians of {LOOKS}",
        ),
        _line(
            "P10",
            "job matrix page over HTTP",
            pair=overhead,
            target=OVERHEAD,
            note="reference: the statements that the page sends, sent bare over one connection",
        ),
    ]


def _line(name: str, what: str, *, pair: Pair, target: Target, note: str) -> Line:
    product, reference = median(pair.product), median(pair.reference)
    ratio = product / reference
    return Line(
        name, what, f"{product * 1e3:.0f} ms", f"{reference * 1e3:.0f} ms", ratio, ratio, target,
        (note,),
    )  # fmt: skip


@contextmanager
def _superuser(place: Place) -> Iterator[psycopg.Connection]:
    url = place.services.postgres_url.rpartition("/")[0] + f"/{hub.DATABASE}"
    with psycopg.connect(url, autocommit=True) as rows:
        yield rows


@contextmanager
def _copied(place: Place) -> Iterator[str]:
    """Copy the hub's database as it is; yield the copy's name."""
    name = f"{hub.DATABASE}_little"
    hubs.close()  # nobody may be connected to what is copied
    with psycopg.connect(place.services.postgres_url, autocommit=True) as postgres:
        postgres.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        postgres.execute(f"CREATE DATABASE {name} TEMPLATE {hub.DATABASE}")
        try:
            yield name
        finally:
            postgres.execute(f"DROP DATABASE {name} WITH (FORCE)")


def _pattern() -> tuple[history.Pattern, Job, list[int]]:
    """Make the page's job, its nodes, and one judged run that the others are copied from."""
    generic, _ = ResourceClass.objects.get_or_create(
        name="cpu-generic", defaults={"gpus_per_node": 0}
    )
    site = Site.objects.create(
        name=f"pages-{uuid.uuid4().hex[:8]}", partition="main", work_dir="/w", is_enabled=False
    )
    nodes = Node.objects.bulk_create(
        Node(site=site, name=f"n{number:04}", resource_class=generic) for number in range(NODES)
    )
    step = plan.StepRequest(Slugs.STORAGE, 10)
    request = plan.JobRequest(site=site, node_names=[nodes[0].name], steps=[step] * TESTS)
    steps = [each.as_json() for each in plan.freeze(request, nodes[:1])]
    job = Job.objects.create(site=site, steps=steps, node_count=NODES)
    JobNode.objects.bulk_create(
        JobNode(job=job, node=node, severity=Severity.PASSED, open_runs=0) for node in nodes
    )
    pattern = _judged(job, nodes[0])
    Job.objects.filter(pk=job.pk).update(
        state=JobState.DONE, verdict=JobVerdict.PASSED, finished_at=now()
    )
    return pattern, job, [node.pk for node in nodes]


def _judged(job: Job, node: Node) -> history.Pattern:
    """Judge a run of a job of its own, so that the page's job holds copies only."""
    other = Job.objects.create(site=job.site, steps=job.steps, node_count=1)
    JobNode.objects.create(job=other, node=node)
    run = TestRun(job=other, site=job.site, stage=1, step=1, slug=Slugs.STORAGE)
    TestRun.objects.plan([run], {run.pk: [node.pk]}, now=now())
    before = RunState.PLANNED
    for after in (RunState.DISPATCHED, RunState.SUBMITTED, RunState.FINISHED):
        TestRun.objects.move([run.pk], before, after, now=now(), attempt_number=1)
        before = after
    attempt = Attempt.objects.create(
        run=run, number=1, submission=Attempt.Submission.ACCEPTED, slurm_job_id="7", context={},
        asked_at=now(), uploads_expire_at=now() + timedelta(days=1),
    )  # fmt: skip
    verdict = RunVerdict(run.pk, Verdict.PASSED, Cause.NONE, "all gates hold", attempt.pk)
    record_verdicts([verdict], before=RunState.FINISHED, now=now())
    result = TestResult.objects.get(run=run)
    metric = MetricRow.objects.create(
        result=result, node=node, position=1, name="read_bandwidth", label="Sequential read",
        value=6.5, unit="GB/s", better="higher",
    )  # fmt: skip
    run.refresh_from_db()
    return history.Pattern(run, RunNode.objects.get(run=run), result, metric)


def _pad(
    rows: psycopg.Connection, pattern: history.Pattern, node_ids: list[int], have: int, want: int
) -> None:
    """Add results of an earlier job on the same nodes until there are `want`."""
    site = pattern.run.site
    earlier = Job.objects.create(site=site, steps=pattern.run.job.steps, node_count=NODES)
    runs = history.Runs(str(earlier.pk), node_ids, want - have)
    with history.without_indexes(rows):
        history.write(rows, pattern, runs, first=have + 1)
    history.settle(rows)


@contextmanager
def _web(place: Place, database: str) -> Iterator[str]:
    """Run a hub's web process on that database; yield its address."""
    home = place.home / f"pages-{database}"
    (home / "var").mkdir(parents=True, exist_ok=True)
    stack = Stack(home, place.cluster, place.services, venv_home=place.home, database=database)
    try:
        stack.start("web")
        yield f"http://127.0.0.1:{stack.port}"
    finally:
        stack.stop()


def _page(url: str, cookie: str) -> Callable[[], None]:
    """Return what reads the page as somebody who is logged in, over a connection of its own."""
    request = urllib.request.Request(url, headers={"Cookie": cookie})

    def read() -> None:
        with urllib.request.urlopen(request, timeout=60) as answer:
            text = answer.read()
        if b"n0000" not in text or b"6.5" not in text:
            raise RuntimeError("the page does not show what it should")

    read()
    return read


def _somebody() -> User:
    return User.objects.get_or_create(username="bench", is_superuser=True)[0]


def _cookie() -> str:
    user = _somebody()
    session = import_module(settings.SESSION_ENGINE).SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.save()
    return f"{settings.SESSION_COOKIE_NAME}={session.session_key}"


def _bare(place: Place, job: Job) -> Callable[[], None]:
    """Return what sends the statements of one look at the page and reads their answers."""
    client = Client(headers={"host": "127.0.0.1"})
    client.force_login(_somebody())
    with CaptureQueriesContext(hubs) as captured:
        client.get(f"/jobs/{job.pk}/")
    statements = [each["sql"] for each in captured.captured_queries if each["sql"][:1] == "S"]

    def send() -> None:
        with hubs.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
                cursor.fetchall()

    return send
