"""The audit: who did what to what, where and why."""

from __future__ import annotations

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from burnin.api.examples import AUDIT, example
from burnin.api.views import ListOf
from burnin.models import AuditEntry
from burnin.selectors.audit import entries_for
from burnin.selectors.audit_filters import AuditFilter


@extend_schema_serializer(examples=[example("A job was cancelled", AUDIT)])
class AuditShown(serializers.ModelSerializer[AuditEntry]):
    """One act. Names stay as they were then. `token` is empty if a browser was used."""

    user = serializers.CharField(source="user_name")
    site = serializers.CharField(source="site.name", default=None, allow_null=True)

    class Meta:
        model = AuditEntry
        fields = (
            "id",
            "at",
            "user",
            "token",
            "action",
            "object_kind",
            "object_id",
            "object_name",
            "site",
            "reason",
        )


class Audit(ListOf[AuditEntry]):
    """What was done at the sites that you may see; to admins also what belongs to no site.

    The newest first.
    """

    serializer_class = AuditShown
    filterset_class = AuditFilter

    def rows(self) -> QuerySet[AuditEntry]:
        return AuditEntry.objects.select_related("site")

    def get_queryset(self) -> QuerySet[AuditEntry]:
        if getattr(self, "swagger_fake_view", False):
            return self.rows()
        return entries_for(self.request.user)
