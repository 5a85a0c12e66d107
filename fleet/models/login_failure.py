"""Logins that did not succeed, kept only as long as they count."""

from django.db import models


class LoginFailure(models.Model):
    """One wrong password. The name is hashed: people type passwords into that field too."""

    name_digest = models.CharField(max_length=64)
    address = models.CharField(max_length=45)
    at = models.DateTimeField(db_index=True)

    class Meta:
        indexes = (models.Index(fields=("address", "at")),)

    def __str__(self) -> str:
        return f"{self.address} at {self.at}"
