"""How the audit can be narrowed: pages, exports and REST alike."""

import django_filters

from burnin.models import AuditEntry


class AuditFilter(django_filters.FilterSet):
    site = django_filters.CharFilter(field_name="site__name", label="Site")
    user = django_filters.CharFilter(field_name="user_name", label="By")
    action = django_filters.CharFilter(label="Action")
    object_kind = django_filters.CharFilter(label="Kind of object")
    object_id = django_filters.CharFilter(label="Object")
    since = django_filters.IsoDateTimeFilter(field_name="at", lookup_expr="gte", label="Not before")
    until = django_filters.IsoDateTimeFilter(field_name="at", lookup_expr="lt", label="Before")

    class Meta:
        model = AuditEntry
        fields = ()
