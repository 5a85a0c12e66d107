"""A preset may accept nodes of many classes: what one column held becomes rows of their own."""

from itertools import pairwise
from typing import Any

import django.db.models.deletion
import simple_history.models
from django.conf import settings
from django.db import migrations, models


def keep(apps: Any, _: Any) -> None:
    """Write a row for each class that is accepted, and the history that the column had."""
    Preset, Acceptance = (apps.get_model("burnin", name) for name in ("Preset", "Acceptance"))
    for preset in Preset.objects.exclude(accepts=None):
        Acceptance.objects.create(preset=preset, resource_class_id=preset.accepts_id)
    own = apps.get_model("burnin", "HistoricalPreset").objects
    for preset_id in set(own.values_list("id", flat=True)):
        rows = list(own.filter(id=preset_id).order_by("history_date", "history_id"))
        for before, row in pairwise([None, *rows]):
            _keep_change(apps, before, row)


def _keep_change(apps: Any, before: Any, row: Any) -> None:
    was = before.accepts_id if before is not None else None
    now = None if row.history_type == "-" else row.accepts_id
    if was == now:
        return
    for class_id, kind in ((was, "-"), (now, "+")):
        if class_id is not None:
            _write_history(apps, row, class_id, kind)


def _write_history(apps: Any, row: Any, class_id: int, kind: str) -> None:
    standing = apps.get_model("burnin", "Acceptance").objects.filter(
        preset_id=row.id, resource_class_id=class_id
    )
    apps.get_model("burnin", "HistoricalAcceptance").objects.create(
        id=standing.values_list("pk", flat=True).first() or 0,  # 0: it stands no more
        preset_id=row.id,
        resource_class_id=class_id,
        history_date=row.history_date,
        history_user_id=row.history_user_id,
        history_type=kind,
    )


def keep_one(apps: Any, _: Any) -> None:
    """Let each preset accept the first of its classes: the column holds no more."""
    presets = apps.get_model("burnin", "Preset").objects
    for each in apps.get_model("burnin", "Acceptance").objects.order_by("resource_class__name"):
        presets.filter(pk=each.preset_id, accepts=None).update(accepts=each.resource_class_id)


class Migration(migrations.Migration):
    dependencies = [
        ("burnin", "0009_pair_metrics"),
        ("fleet", "0004_containers"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Acceptance",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "preset",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="acceptances",
                        to="burnin.preset",
                    ),
                ),
                (
                    "resource_class",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="acceptances",
                        to="fleet.resourceclass",
                    ),
                ),
            ],
            options={
                "ordering": ("resource_class",),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("resource_class",),
                        name="burnin_a_class_is_accepted_by_one_preset",
                        violation_error_message="another preset accepts this class: "
                        "take it away there",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="HistoricalAcceptance",
            fields=[
                (
                    "id",
                    models.BigIntegerField(
                        auto_created=True, blank=True, db_index=True, verbose_name="ID"
                    ),
                ),
                ("history_id", models.AutoField(primary_key=True, serialize=False)),
                ("history_date", models.DateTimeField(db_index=True)),
                ("history_change_reason", models.CharField(max_length=100, null=True)),
                (
                    "history_type",
                    models.CharField(
                        choices=[("+", "Created"), ("~", "Changed"), ("-", "Deleted")], max_length=1
                    ),
                ),
                (
                    "history_user",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "preset",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="burnin.preset",
                    ),
                ),
                (
                    "resource_class",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="fleet.resourceclass",
                    ),
                ),
            ],
            options={
                "verbose_name": "historical acceptance",
                "verbose_name_plural": "historical acceptances",
                "ordering": ("-history_date", "-history_id"),
                "get_latest_by": ("history_date", "history_id"),
            },
            bases=(simple_history.models.HistoricalChanges, models.Model),
        ),
        migrations.RunPython(keep, keep_one),
        migrations.RemoveConstraint(
            model_name="preset", name="burnin_one_acceptance_preset_per_class"
        ),
        migrations.RemoveField(model_name="historicalpreset", name="accepts"),
        migrations.RemoveField(model_name="preset", name="accepts"),
    ]
