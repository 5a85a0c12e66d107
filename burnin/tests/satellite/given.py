"""Orders and jobs for satellites under test."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from burnin.hardware_tests.registry import get_test_class
from burnin.hardware_tests.resource_classes import hardware_of
from burnin.hardware_tests.run_context import RunContext
from burnin.runner_bundle import SOURCE, bundle_bytes
from burnin.satellite.config import SiteConfig
from burnin.satellite.messages import JobOrder, SubmitOrder
from burnin.slurm.cluster import Submission
from burnin.tests.slurm.jobs import new_token, submission
from burnin.workflow.render import Order, make_submission
from runner.contract.slugs import Slugs
from runner.contract.wire import AttemptToken


def bundle() -> tuple[str, bytes]:
    """Return the runner's sha256 and content."""
    content = bundle_bytes(SOURCE)
    return hashlib.sha256(content).hexdigest(), content


def job_order(job: Submission) -> JobOrder:
    return JobOrder(
        run_id=job.token.run_id,
        attempt=job.token.attempt,
        script=job.script,
        context=job.context.decode(),
    )


def submit_order(jobs: Sequence[Submission], sha256: str) -> SubmitOrder:
    return SubmitOrder(
        bundle_name=f"runner-{sha256}.pyz",
        bundle_sha256=sha256,
        jobs=tuple(job_order(job) for job in jobs),
    )


def hello_world(site: SiteConfig, sha256: str, token: AttemptToken) -> Submission:
    """Return the real script and context of single-node.hello-world."""
    test = get_test_class(Slugs.HELLO_WORLD)()
    context = RunContext(token=token, partition="main", timeout_minutes=5)
    order = Order(test, test.params_class(), context, hardware=hardware_of("cpu-generic"))
    path = f"{site.work_dir}/bundles/runner-{sha256}.pyz"
    return make_submission(order, site, bundle_path=path, bundle_sha256=sha256)


def held_jobs(count: int) -> list[Submission]:
    """Return jobs that Slurm takes and never starts."""
    return [submission(new_token(), "true", "--hold") for _ in range(count)]
