"""What an attempt is sent as: its batch script, and the context that the runner reads beside it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from burnin.hardware_tests import sbatch
from burnin.hardware_tests.base import BaseTest
from burnin.hardware_tests.params import TestParams
from burnin.hardware_tests.run_context import RunContext
from burnin.slurm.cluster import Submission
from fleet.hardware import Hardware
from runner.contract.wire import AttemptToken, ExecutionContext


class SitePaths(Protocol):
    """The part of a site that scripts need: its own TOML file and its row both have it."""

    @property
    def work_dir(self) -> str: ...
    @property
    def facts_root(self) -> str: ...
    @property
    def node_path(self) -> str: ...
    @property
    def node_python(self) -> str: ...
    @property
    def containers(self) -> Mapping[str, str]: ...


@dataclass(frozen=True)
class Order:
    """One attempt of one test, and on what it shall run."""

    test: BaseTest
    params: TestParams
    context: RunContext
    hardware: Hardware

    @property
    def token(self) -> AttemptToken:
        return self.context.token


@dataclass(frozen=True)
class Bundle:
    """The runner as one file: its content and what vouches for it."""

    name: str
    sha256: str
    content: bytes


def make_submission(
    order: Order, site: SitePaths, *, bundle_path: str, bundle_sha256: str
) -> Submission:
    """Render script and context of an attempt whose artifacts are fetched from work_dir."""
    script = render_script(order, site, bundle_path=bundle_path, bundle_sha256=bundle_sha256)
    return Submission(order.token, script, context_text(execution_context(order, site), {}))


def render_script(order: Order, site: SitePaths, *, bundle_path: str, bundle_sha256: str) -> str:
    """Return the batch script. It holds no URL and no param."""
    launch = sbatch.RunnerLaunch(
        slug=order.test.slug,
        bundle_path=bundle_path,
        bundle_sha256=bundle_sha256,
        attempt_dir=f"{site.work_dir}/attempts/{order.token.directory}",
        python=site.node_python,
        path=site.node_path,
        resource_class=order.hardware.resource_class if order.test.gpu_makers else "",
        gpu_maker=order.hardware.gpu_maker if order.test.gpu_makers else "",
        container=site.containers.get(order.test.container_on(order.hardware), ""),
    )
    context = replace(order.context, gpus_per_node=order.hardware.gpus_per_node)
    return sbatch.render(order.test.make_batch_config(context), launch)


def execution_context(order: Order, site: SitePaths) -> dict[str, Any]:
    """Return what the node is told, without any upload URL: this is what is kept."""
    return ExecutionContext(
        run_id=order.token.run_id,
        attempt=order.token.attempt,
        slug=order.test.slug,
        params=order.params.resolved(),
        node_names=list(order.context.nodelist or ()),
        num_nodes=order.context.num_nodes,
        time_limit_s=order.context.timeout_minutes * 60,
        iterations=order.context.iterations,
        facts_root=site.facts_root,
        uploads={},
    ).as_json()


def context_text(context: Mapping[str, Any], uploads: Mapping[str, str]) -> bytes:
    """Return context.json, which holds the upload URLs and goes nowhere but to the attempt."""
    return json.dumps({**context, "uploads": dict(uploads)}).encode()


def bundle_path(site: SitePaths, bundle_name: str) -> str:
    return f"{site.work_dir}/bundles/{bundle_name}"
