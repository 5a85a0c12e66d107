"""Results and trouble say what their run was asked to do: their job has frozen it.

Where no job tells, the digest stays empty: such a result accepts no node.
"""

import hashlib
import json
from typing import Any

from django.db import migrations, models
from django.utils import timezone


def tell(apps: Any, _: Any) -> None:
    """Fill in what jobs froze, set by set, and believe no acceptance before it is weighed anew."""
    for name, run in (("LatestResult", "result__run"), ("Trouble", "run")):
        rows = apps.get_model("burnin", name).objects.order_by()
        keys = (f"{run}__job", f"{run}__step", "slug", "node__resource_class__name")
        steps: dict[Any, Any] = {}
        for job, position, slug, kind in rows.values_list(*keys).distinct().order_by(keys[0]):
            if job not in steps:
                steps = {job: _steps(apps, job)}
            step = steps[job].get(position)
            if step is not None and step["slug"] == slug:
                same = dict(zip(keys, (job, position, slug, kind), strict=True))
                rows.filter(**same).update(**_told(step, kind))
    apps.get_model("burnin", "NodeStanding").objects.update(weigh_at=timezone.now())


def _steps(apps: Any, job: Any) -> dict[int, Any]:
    kept = apps.get_model("burnin", "Job").objects.values_list("steps", flat=True).get(pk=job)
    return {each["position"]: each for each in kept}


def _told(step: Any, resource_class: str) -> dict[str, Any]:
    params = step.get("params_on", {}).get(resource_class, step["params"])
    told = json.dumps([params, step["iterations"]], sort_keys=True)
    digest = hashlib.sha256(told.encode()).hexdigest()[:16]
    return {"params": params, "iterations": step["iterations"], "digest": digest}


def leave_the_newest(apps: Any, _: Any) -> None:
    """Leave each test of a node one row: the tables hold no more."""
    for name, at in (("LatestResult", "started_at"), ("Trouble", "began_at")):
        rows = apps.get_model("burnin", name).objects.order_by(at)
        newest = {(node, slug): pk for pk, node, slug in rows.values_list("pk", "node", "slug")}
        rows.exclude(pk__in=newest.values()).delete()


class Migration(migrations.Migration):
    dependencies = [
        ("burnin", "0012_audit_keys_and_life_of_evidence"),
        ("fleet", "0004_containers"),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="latestresult",
            options={"ordering": ("node", "slug", "-started_at")},
        ),
        migrations.RemoveConstraint(
            model_name="latestresult",
            name="burnin_one_latest_per_test",
        ),
        migrations.RemoveConstraint(
            model_name="trouble",
            name="burnin_one_trouble_per_test",
        ),
        migrations.AddField(
            model_name="latestresult",
            name="digest",
            field=models.CharField(
                blank=True, default="", help_text="Of params and iterations.", max_length=16
            ),
        ),
        migrations.AddField(
            model_name="latestresult",
            name="iterations",
            field=models.PositiveSmallIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="latestresult",
            name="params",
            field=models.JSONField(
                blank=True, default=dict, help_text="As the node was told them."
            ),
        ),
        migrations.AddField(
            model_name="trouble",
            name="digest",
            field=models.CharField(
                blank=True, default="", help_text="Of params and iterations.", max_length=16
            ),
        ),
        migrations.AddField(
            model_name="trouble",
            name="iterations",
            field=models.PositiveSmallIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="trouble",
            name="params",
            field=models.JSONField(
                blank=True, default=dict, help_text="As the node was told them."
            ),
        ),
        migrations.AlterField(
            model_name="nodestanding",
            name="state",
            field=models.CharField(
                choices=[
                    ("accepted", "every required test has passed, and it still counts"),
                    ("failing", "a test failed, and nothing was done about it since"),
                    ("suspect", "it vanished or hung under a test, or its group failed"),
                    (
                        "untested",
                        "a required test has not come to a conclusion as its class must pass it",
                    ),
                    ("stale", "what was shown no longer counts"),
                    ("skipped", "excluded"),
                ],
                max_length=10,
            ),
        ),
        migrations.RunPython(tell, leave_the_newest),
        migrations.AddConstraint(
            model_name="latestresult",
            constraint=models.UniqueConstraint(
                fields=("node", "slug", "digest"), name="burnin_one_latest_per_workload"
            ),
        ),
        migrations.AddConstraint(
            model_name="trouble",
            constraint=models.UniqueConstraint(
                fields=("node", "slug", "digest"), name="burnin_one_trouble_per_workload"
            ),
        ),
    ]
