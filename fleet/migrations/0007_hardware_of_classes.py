from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("fleet", "0006_partition_is_a_plain_name"),
    ]

    operations = [
        migrations.AddField(
            model_name="resourceclass",
            name="gpu_maker",
            field=models.CharField(
                blank=True,
                choices=[("NVIDIA", "NVIDIA"), ("AMD", "AMD")],
                default="",
                max_length=6,
                verbose_name="maker of the GPUs",
            ),
        ),
        migrations.AddField(
            model_name="resourceclass",
            name="gpus_per_node",
            field=models.PositiveSmallIntegerField(
                blank=True,
                help_text=(
                    "0 for none. Empty: not stated, so its nodes take no job and none is accepted."
                ),
                null=True,
                verbose_name="GPUs per node",
            ),
        ),
        migrations.AddField(
            model_name="resourceclass",
            name="parts",
            field=models.JSONField(
                blank=True,
                default=list,
                help_text=(
                    "What its nodes have, by name: a preset asks for no check of anything else."
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="resourceclass",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        models.Q(("gpu_maker", ""), _negated=True),
                        ("gpus_per_node__gt", 0),
                        ("gpus_per_node__isnull", False),
                    ),
                    models.Q(("gpu_maker", ""), ("gpus_per_node", 0)),
                    models.Q(("gpu_maker", ""), ("gpus_per_node", None)),
                    _connector="OR",
                ),
                name="fleet_gpus_have_a_maker",
                violation_error_message="GPUs have a maker, and nodes without GPUs have none",
            ),
        ),
    ]
