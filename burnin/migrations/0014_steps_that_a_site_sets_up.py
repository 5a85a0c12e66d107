from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("burnin", "0013_workloads"),
    ]

    operations = [
        migrations.AddField(
            model_name="historicalpresetstep",
            name="only_if_site_sets",
            field=models.BooleanField(
                default=False,
                help_text="Not required where the site does not set what `params` leave to it.",
            ),
        ),
        migrations.AddField(
            model_name="presetstep",
            name="only_if_site_sets",
            field=models.BooleanField(
                default=False,
                help_text="Not required where the site does not set what `params` leave to it.",
            ),
        ),
    ]
