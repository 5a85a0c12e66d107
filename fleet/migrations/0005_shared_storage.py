import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("fleet", "0004_containers"),
    ]

    operations = [
        migrations.AddField(
            model_name="site",
            name="shared_storage",
            field=models.CharField(
                blank=True,
                help_text=(
                    "A directory of all nodes, for tests of storage; empty: they are left out."
                ),
                max_length=200,
                validators=[
                    django.core.validators.RegexValidator(
                        "^/[^\\x00-\\x1f%]*$", "must be an absolute path"
                    )
                ],
            ),
        ),
    ]
