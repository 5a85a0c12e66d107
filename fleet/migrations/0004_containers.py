from django.db import migrations, models

import fleet.models.inventory


class Migration(migrations.Migration):
    dependencies = [("fleet", "0003_api_token")]

    operations = [
        migrations.AddField(
            model_name="site",
            name="containers",
            field=models.JSONField(
                blank=True,
                default=dict,
                help_text=(
                    "By name, the image that tests take their tool from; absent: from node_path."
                ),
                validators=[fleet.models.inventory.container_images],
            ),
        ),
    ]
