"""What a job would send, with nothing written."""

from __future__ import annotations

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema, extend_schema_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from burnin.api.errors import Unprocessable
from burnin.api.examples import example
from burnin.api.permissions import site_to_operate
from burnin.api.resources.jobs import NewJob, request_of
from burnin.api.views import Bounded
from burnin.workflow import wiring
from burnin.workflow.plan import PlanRefused
from burnin.workflow.preview import Preview, preview_job

DRY_RUN = {
    "usable": ["n001"],
    "left_out": [{"node": "n002", "reason": "n002 is excluded: on loan"}],
    "steps": [{"slug": "single-node.hello-world", "position": 1, "timeout_minutes": 5}],
    "omitted": ["single-node.gpu-burn"],
    "why_omitted": {"single-node.gpu-burn": "the nodes have not the hardware for it"},
    "run_count": 1,
    "longest_node_minutes": 5,
    "closed_because": "",
    "script": "#!/bin/bash\n#SBATCH --nodelist=n001\n",
}


class LeftOutShown(serializers.Serializer[Any]):
    """A node that would be listed as skipped."""

    node = serializers.CharField()
    reason = serializers.CharField()


@extend_schema_serializer(examples=[example("One test on a node", DRY_RUN)])
class DryRunShown(serializers.Serializer[Any]):
    """`script` is what would be sent first; `closed_because` is empty if it could be sent now.

    `run_count` is the number of Slurm jobs if every node passes every gate. `omitted` are tests of
    the preset that no node here is asked for, `why_omitted` says why; `params_on` in a step are
    the params of classes that are not asked for all of `params`.
    """

    usable = serializers.ListField(child=serializers.CharField())
    left_out = LeftOutShown(many=True)
    steps = serializers.ListField(child=serializers.DictField())
    omitted = serializers.ListField(child=serializers.CharField())
    why_omitted = serializers.DictField(child=serializers.CharField())
    run_count = serializers.IntegerField()
    longest_node_minutes = serializers.IntegerField()
    closed_because = serializers.CharField()
    script = serializers.CharField()


class DryRun(Bounded):
    """Try a job: the same request as starting it, worked out alike, and nothing is written."""

    @extend_schema(request=NewJob, responses=DryRunShown)
    def post(self, request: Request) -> Response:
        asked = NewJob(data=request.data)
        asked.is_valid(raise_exception=True)
        site = site_to_operate(request, asked.validated_data["site"])
        wanted = request_of(request, site, asked.validated_data, key="")
        try:
            preview = preview_job(wanted, bundle=wiring.hub_bundle(), now=timezone.now())
        except PlanRefused as error:
            raise Unprocessable(str(error)) from error
        return Response(DryRunShown(_shown(preview)).data)


def _shown(preview: Preview) -> dict[str, Any]:
    return {
        "usable": [node.name for node in preview.usable],
        "left_out": [{"node": each.node.name, "reason": each.reason} for each in preview.left_out],
        "steps": [step.as_json() for step in preview.steps],
        "omitted": [each.slug for each in preview.omitted],
        "why_omitted": {each.slug: each.reason for each in preview.omitted},
        "run_count": preview.run_count,
        "longest_node_minutes": preview.longest_node_minutes,
        "closed_because": preview.closed_because,
        "script": preview.script,
    }
