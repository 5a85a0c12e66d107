"""Filters of a page's address, and one sentence for each that makes no sense."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django_filters import FilterSet

from burnin.selectors.filter_words import complaints_of


def rows_and_complaints(filters: FilterSet) -> tuple[QuerySet[Any], list[str]]:
    """Return what the filters let through. With a senseless one that is nothing, and why."""
    if filters.is_valid():
        return filters.qs, []
    return filters.queryset.none(), complaints_of(filters)
