"""P12: finished runs from the store to their verdicts.

Product: the hub's own step, `collect_site`: list, copy, GET, checks, the judgement and the rows
of each verdict. Reference: HEAD, copy and GET of each artifact by bare boto3, as many at once.
"""

from __future__ import annotations

import tempfile
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

import boto3
from botocore.config import Config
from django.conf import settings

from bench import hub
from bench.place import Place
from bench.product import now
from bench.sampling import alternate, seconds
from bench.table import Line, at_least
from burnin.models import Attempt, Job, TestRun
from burnin.states import RunState
from burnin.storage.store import ArtifactStore, incoming_key, kept_key
from burnin.tests.attempts import NODE, write_attempt
from burnin.workflow import plan, wiring
from burnin.workflow.bells import Silence
from burnin.workflow.claimed import RUNS_PER_BATCH
from burnin.workflow.collect_site import DOWNLOADS_AT_ONCE, collect_site
from fleet.models import Node, ResourceClass, Site
from runner.contract import artifacts
from runner.contract.slugs import Slugs
from runner.contract.wire import AttemptToken

RUNS = RUNS_PER_BATCH
ROUNDS = 5
TARGET = at_least(0.6, 0.8)


def measure(place: Place) -> Sequence[Line]:
    store, site = wiring.store(), _site()
    with hub.nothing_left():
        pair = alternate(
            lambda: seconds(_collecting(site, store)),
            lambda: seconds(_asking(place, site, store)),
            rounds=ROUNDS,
        )
    ours, bare = RUNS / median(pair.product), RUNS / median(pair.reference)
    requests = 3 * len(artifacts.MAX_BYTES)
    return [
        Line(
            "P12",
            "artifact collection",
            f"{ours:.0f} runs/s",
            f"{bare:.0f} runs/s",
            ours / bare,
            ours / bare,
            TARGET,
            (
                f"{RUNS} runs, {DOWNLOADS_AT_ONCE} at once; medians of {ROUNDS}",
                f"reference: {requests} requests a run by boto3; the product lists instead of five "
                "HEADs, and also checks, judges and writes the verdicts",
            ),
        )
    ]


def _collecting(site: Site, store: ArtifactStore) -> Callable[[], None]:
    """Prepare a batch of finished runs and return what collects and judges it."""
    tokens = _finished(site, store)

    def collect() -> None:
        judged = collect_site(
            site, store=store, queue=wiring.site_queue(), bells=Silence(), clock=now
        )
        if judged != len(tokens):
            raise RuntimeError(f"{judged} of {len(tokens)} runs were judged")

    return collect


def _asking(place: Place, site: Site, store: ArtifactStore) -> Callable[[], None]:
    """Prepare the same objects and return what makes the same requests, and nothing else."""
    tokens = [AttemptToken(str(uuid.uuid4()), 1) for _ in range(RUNS)]
    _upload(site, store, tokens)
    client = boto3.client(
        "s3",
        endpoint_url=place.services.s3_endpoint,
        region_name=place.services.s3_region,
        aws_access_key_id=place.services.s3_key_id,
        aws_secret_access_key=place.services.s3_secret,
        config=Config(
            s3={"addressing_style": "path"},
            max_pool_connections=DOWNLOADS_AT_ONCE,
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
        ),
    )
    bucket = place.services.s3_bucket

    def one(token: AttemptToken) -> None:
        for name in artifacts.MAX_BYTES:
            client.head_object(Bucket=bucket, Key=incoming_key(site.name, token, name))
        for name in artifacts.MAX_BYTES:
            source, target = incoming_key(site.name, token, name), kept_key(token, "0", name)
            client.copy_object(
                Bucket=bucket, Key=target, CopySource={"Bucket": bucket, "Key": source}
            )
            client.get_object(Bucket=bucket, Key=target)["Body"].read()

    def ask() -> None:
        with ThreadPoolExecutor(DOWNLOADS_AT_ONCE) as pool:
            list(pool.map(one, tokens))

    return ask


def _site() -> Site:
    generic, _ = ResourceClass.objects.get_or_create(
        name="cpu-generic", defaults={"gpus_per_node": 0}
    )
    site = Site.objects.create(
        name=f"store-{uuid.uuid4().hex[:8]}", partition="main", work_dir="/w", is_enabled=False
    )
    Node.objects.create(site=site, name=NODE, resource_class=generic)
    return site


def _finished(site: Site, store: ArtifactStore) -> list[AttemptToken]:
    """Write runs that Slurm is done with, and upload what their nodes would have."""
    node = Node.objects.get(site=site)
    request = plan.JobRequest(
        site=site, node_names=[NODE], steps=[plan.StepRequest(Slugs.HELLO_WORLD, 5)]
    )
    steps = [each.as_json() for each in plan.freeze(request, [node])]
    job = Job.objects.create(site=site, steps=steps, node_count=1)
    runs = [
        TestRun(job=job, site=site, stage=1, step=1, slug=Slugs.HELLO_WORLD) for _ in range(RUNS)
    ]
    TestRun.objects.plan(runs, {run.pk: [node.pk] for run in runs}, now=now())
    ids, before = [run.pk for run in runs], RunState.PLANNED
    for after in (RunState.DISPATCHED, RunState.SUBMITTED, RunState.FINISHED):
        TestRun.objects.move(ids, before, after, now=now(), attempt_number=1)
        before = after
    Attempt.objects.bulk_create(map(_attempt, ids))
    tokens = [AttemptToken(str(run_id), 1) for run_id in ids]
    _upload(site, store, tokens)
    return tokens


def _attempt(run_id: uuid.UUID) -> Attempt:
    return Attempt(
        run_id=run_id,
        number=1,
        submission=Attempt.Submission.ACCEPTED,
        script="#!/bin/sh\n",
        context={},
        bundle_sha256="0" * 64,
        slurm_job_id="7",
        slurm_state="COMPLETED",
        node_list=NODE,
        exit_code="0:0",
        asked_at=now(),
        submitted_at=now(),
        started_at=now(),
        ended_at=now(),
        uploads_expire_at=now(),
    )


def _upload(site: Site, store: ArtifactStore, tokens: Sequence[AttemptToken]) -> None:
    def upload(token: AttemptToken) -> None:
        with tempfile.TemporaryDirectory(dir=settings.VAR_DIR) as directory:
            attempt = write_attempt(Path(directory), token=token)
            for name in artifacts.MAX_BYTES:
                store.put(incoming_key(site.name, token, name), (attempt / name).read_bytes())

    with ThreadPoolExecutor(DOWNLOADS_AT_ONCE) as pool:
        list(pool.map(upload, tokens))
