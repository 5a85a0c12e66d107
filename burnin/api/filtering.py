"""Filters of lists: the FilterSets of the pages, and no parameter that means nothing."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.views import APIView

from burnin.api import names
from burnin.api.paging import PARAMETERS
from burnin.selectors.filter_words import wrong_choices


class Filters(DjangoFilterBackend):
    """A misspelled filter must not answer with everything."""

    def filter_queryset(
        self, request: Request, queryset: QuerySet[Any], view: APIView
    ) -> QuerySet[Any]:
        known = [*self._names(view), *PARAMETERS]
        if unknown := [name for name in request.query_params if name not in known]:
            raise ValidationError(
                {unknown[0][:80]: f"there is no such filter; there are {', '.join(known)}"}
            )
        # A script whose variable is not set would otherwise be answered with everything, too.
        if empty := [name for name, value in request.query_params.items() if not value]:
            raise ValidationError({empty[0]: "give a value, or leave it out"})
        _require_choice(getattr(view, "filterset_class", None), request)
        names.require_known(request)
        narrowed: QuerySet[Any] = super().filter_queryset(request, queryset, view)
        return narrowed

    def _names(self, view: APIView) -> list[str]:
        filterset = getattr(view, "filterset_class", None)
        return list(filterset.base_filters) if filterset else []


def _require_choice(filterset: Any, request: Request) -> None:
    """Raise ValidationError with the choices that there are."""
    if filterset and (wrong := dict(wrong_choices(filterset, request.query_params))):
        raise ValidationError(wrong)
