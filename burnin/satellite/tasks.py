"""The satellite's tasks: check what was ordered, and do it. A bad order is dropped in words."""

from __future__ import annotations

import logging
from typing import TypeVar

from pydantic import ValidationError

from burnin.satellite.app import app, satellite
from burnin.satellite.messages import (
    CancelOrder,
    CheckOrder,
    Message,
    RefreshOrder,
    RelayOrder,
    SubmitOrder,
    TailOrder,
    TaskName,
)

logger = logging.getLogger(__name__)

Order = TypeVar("Order", bound=Message)


@app.task(name=TaskName.SUBMIT)
def submit(order: object = None, **_: object) -> None:
    if (checked := checked_order(SubmitOrder, order)) is not None:
        satellite().orders.submit(checked)


@app.task(name=TaskName.CANCEL)
def cancel(order: object = None, **_: object) -> None:
    if (checked := checked_order(CancelOrder, order)) is not None:
        satellite().orders.cancel(checked)


@app.task(name=TaskName.TAIL)
def tail(order: object = None, **_: object) -> None:
    if (checked := checked_order(TailOrder, order)) is not None:
        satellite().orders.tail(checked)


@app.task(name=TaskName.RELAY)
def relay(order: object = None, **_: object) -> None:
    if (checked := checked_order(RelayOrder, order)) is not None:
        satellite().orders.relay(checked)


@app.task(name=TaskName.CHECK)
def check(order: object = None, **_: object) -> None:
    if (checked := checked_order(CheckOrder, order)) is not None:
        satellite().orders.check(checked)


@app.task(name=TaskName.REFRESH)
def refresh(order: object = None, **_: object) -> None:
    if (checked := checked_order(RefreshOrder, order)) is not None:
        satellite().orders.refresh(checked)


def checked_order(kind: type[Order], order: object) -> Order | None:
    """Return the order, or None after saying in the log what is wrong with it."""
    try:
        return kind.model_validate(order, strict=False)
    except ValidationError as error:
        # Not the input itself: it may hold upload URLs.
        first = error.errors(include_input=False, include_url=False, include_context=False)[0]
        where = ".".join(str(step) for step in first["loc"]) or "the order"
        logger.error("dropped a %s that is wrong at %s: %.300s", kind.__name__, where, first["msg"])
        return None
