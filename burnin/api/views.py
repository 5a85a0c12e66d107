"""What the views of all resources share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, TypeVar

from django.db import models
from django.db.models import QuerySet
from django.http import HttpResponseBase
from rest_framework.exceptions import NotFound
from rest_framework.generics import GenericAPIView
from rest_framework.mixins import ListModelMixin
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from burnin.api import conditional
from burnin.api.errors import LengthRequired, TooLarge
from burnin.api.filtering import Filters
from burnin.api.paging import KeysetPages
from burnin.api.permissions import visible_sites
from fleet.models.api_token import Scope

LARGEST_BODY_BYTES = 4 << 20
Row = TypeVar("Row", bound=models.Model)


class Bounded(APIView):
    """Looks at a body's length before it is read."""

    scopes: ClassVar[Mapping[str, Scope]] = {}

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if "HTTP_TRANSFER_ENCODING" in request.META:
            raise LengthRequired
        text = request.META.get("CONTENT_LENGTH") or "0"
        length = int(text) if text.isascii() and text.isdecimal() else 0
        if length > LARGEST_BODY_BYTES:
            raise TooLarge(
                f"the body has {length} bytes, more than {LARGEST_BODY_BYTES}: send less at a time"
            )


class Rows(Bounded, GenericAPIView[Row]):
    """Rows that the caller may see. `site_field` leads to their site; "" if they have none."""

    keeps_etag: ClassVar[bool] = True
    site_field: ClassVar[str] = ""

    def get_queryset(self) -> QuerySet[Row]:
        rows = self.rows()
        if getattr(self, "swagger_fake_view", False) or not self.site_field:
            return rows
        return rows.filter(**{f"{self.site_field}__in": visible_sites(self.request)})

    def rows(self) -> QuerySet[Row]:
        """Return every row, with what showing it needs."""
        raise NotImplementedError

    def more_state(self, rows: Sequence[Row]) -> list[Any]:
        """Return what is shown beside the rows themselves and may change without them."""
        return []

    def unchanged_or(self, rows: Sequence[Row], render: Callable[[], Response]) -> HttpResponseBase:
        state = [*map(conditional.state_of, rows), *self.more_state(rows)]
        return conditional.answer(self.request, state, render)


class ListOf(ListModelMixin, Rows[Row]):
    """A page of rows in the order of `keys`, which together are unique and never change."""

    keys: ClassVar[tuple[str, ...]] = ("-id",)
    filter_backends = (Filters,)
    pagination_class = KeysetPages

    def get(self, request: Request, **_: Any) -> HttpResponseBase:
        page = self.paginate_queryset(self.filter_queryset(self.get_queryset())) or []
        return self.unchanged_or(page, lambda: self._render(page))

    def _render(self, page: Sequence[Row]) -> Response:
        return self.get_paginated_response(self.get_serializer(page, many=True).data)

    def unchanged_or(self, rows: Sequence[Row], render: Callable[[], Response]) -> HttpResponseBase:
        # A page that is full by chance and one with more behind it are different answers.
        more = getattr(self.paginator, "next_cursor", None)
        state = [more, *map(conditional.state_of, rows), *self.more_state(rows)]
        return conditional.answer(self.request, state, render)


class OneOf(Rows[Row]):
    """One row, by what its address names."""

    what: ClassVar[str] = "row"
    listed_at: ClassVar[str] = ""

    def find(self) -> Row:
        """Return the row. Raises NotFound."""
        found = self.get_queryset().filter(**self.kwargs).first()
        if found is None:
            where = f"; see /api/v1/{self.listed_at}" if self.listed_at else ""
            raise NotFound(f"there is no such {self.what}, or none that you may see{where}")
        return found

    def get(self, request: Request, **_: Any) -> HttpResponseBase:
        row = self.find()
        return self.unchanged_or([row], lambda: Response(self.get_serializer(row).data))
