"""Everything known of one run, in files that can be given away: no URL in them can write."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.forms.models import model_to_dict

from burnin.models import Artifact, Attempt, TestResult, TestRun
from burnin.storage.store import ArtifactStore, StoreRefused, StoreUnreachable
from burnin.workflow import logs
from burnin.workflow.ledger import LEARNED

LINKS_LIVE_S = 5 * 60  # for whoever asked; a bundle that is given away opens nothing
TAIL_BYTES = 64 * 1024


def debug_bundle(run: TestRun, *, store: ArtifactStore, now: datetime) -> Mapping[str, bytes]:
    """Return the bundle's files by name: the run and its history, and a directory per attempt.

    The links are presigned, can only read, and end five minutes later.
    """
    files = {
        "run.json": _json(_run(run, now)),
        "history.txt": _history(run),
        "result.json": _json(_result(run)),
    }
    for attempt in run.attempts.order_by("number"):
        files |= {
            f"attempt-{attempt.number}/{name}": content
            for name, content in _attempt(attempt, store).items()
        }
    return files


def _run(run: TestRun, now: datetime) -> dict[str, Any]:
    members = run.members.order_by("position").values_list("node__name", flat=True)
    step: dict[str, Any] = next(
        (each for each in run.job.steps if each["position"] == run.step), {}
    )
    return {
        **model_to_dict(run),
        "id": run.pk,
        "site": run.site.name,
        "created_at": run.created_at,
        "nodes": list(members),
        "frozen_step": step,
        "written_at": now,
    }


def _history(run: TestRun) -> bytes:
    lines = [
        f"{event.at:%Y-%m-%d %H:%M:%S}  {event.before or 'new'} -> {event.after}  {event.note}"
        for event in run.events.order_by("at", "id")
    ]
    return "".join(f"{line.rstrip()}\n" for line in lines).encode()


def _result(run: TestRun) -> dict[str, Any]:
    result = TestResult.objects.filter(run=run).first()
    if result is None:
        return {}
    metrics = result.metrics.order_by("position").values(
        "name", "label", "value", "unit", "better", "detail"
    )
    return {**model_to_dict(result), "metrics": list(metrics)}


def _attempt(attempt: Attempt, store: ArtifactStore) -> dict[str, bytes]:
    slurm = {name: getattr(attempt, name) for name in LEARNED}
    times = {"asked_at": attempt.asked_at, "bundle_sha256": attempt.bundle_sha256}
    tails = {f"tail-{name}": content for name in logs.NAMES if (content := _tail(attempt, name))}
    return {
        "script.sh": attempt.script.encode(),
        "context.json": _json(attempt.context),
        "slurm.json": _json({**slurm, **times}),
        "links.txt": _links(attempt, store),
        **tails,
    }


def _tail(attempt: Attempt, name: str) -> bytes:
    offset = max(0, logs.size(attempt.token, name) - TAIL_BYTES)
    return logs.read(attempt.token, name, offset=offset, limit=TAIL_BYTES)


def _links(attempt: Attempt, store: ArtifactStore) -> bytes:
    lines = [_link(each, store) for each in attempt.artifacts.order_by("name")]
    return "".join(f"{line}\n" for line in lines or ["no artifact was collected"]).encode()


def _link(artifact: Artifact, store: ArtifactStore) -> str:
    what = f"{artifact.name}  {artifact.size_bytes} bytes  sha256 {artifact.sha256}"
    try:
        url = store.download_url(
            artifact.key, expires_s=LINKS_LIVE_S, filename=f"{artifact.attempt_id}-{artifact.name}"
        )
    except (StoreUnreachable, StoreRefused) as error:
        return f"{what}\n  no link: {error}"
    return f"{what}\n  {url}"


def _json(value: Any) -> bytes:
    return json.dumps(value, cls=DjangoJSONEncoder, indent=2).encode() + b"\n"
