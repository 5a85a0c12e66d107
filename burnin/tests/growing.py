"""Makes a large fleet of a small one: the database itself copies every row of its nodes."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import connection
from django.db.models import Model

from burnin.models import (
    Attempt,
    JobCount,
    JobNode,
    LatestResult,
    MetricRow,
    NodeStanding,
    RunNode,
    TestResult,
    TestRun,
    Trouble,
)
from fleet.models import HardwareOperation, Node

FAR = (
    1_000_000  # so far the ids of one copy are from the next one's: no small fleet has as many rows
)
COPIES = """WITH RECURSIVE copy(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM copy WHERE k < %s)
    INSERT INTO {table} ({columns}) SELECT {values} FROM {table} AS t CROSS JOIN copy"""
_ID, _NODE, _RESULT = f"t.id + k * {FAR}", f"t.node_id + k * {FAR}", f"t.result_id + k * {FAR}"


def grow(times: int) -> None:
    """Let there be `times` as many nodes, each with everything that the node it is like has.

    Jobs stay as many as they are: each has the copies among its nodes, and counts them.
    """
    _without_triggers()
    for model, own in _tables().items():
        _copy(model, own, times - 1)
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE {JobCount._meta.db_table} SET count = count * {times}")
        cursor.execute(f"UPDATE burnin_job SET node_count = node_count * {times}")
        cursor.execute("ANALYZE")  # as a database does by itself before long


def _without_triggers() -> None:
    """Have PostgreSQL look up no reference of the copies until the transaction ends."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL session_replication_role = replica")


def _tables() -> dict[type[Model], Mapping[str, str]]:
    """Return what is copied, in the order of references, and what differs in each copy."""
    run, result, node = {"run_id": _run("run_id")}, {"result_id": _RESULT}, {"node_id": _NODE}
    own = {"id": _ID}
    return {
        Node: {**own, "name": "t.name || '-' || k", "dmi_serial": "t.dmi_serial || '-' || k"},
        NodeStanding: node,
        HardwareOperation: {**own, **node},
        JobNode: {**own, **node},
        TestRun: {"id": _run("id")},
        RunNode: {**own, **run, **node},
        Attempt: {**own, **run},
        TestResult: {**own, **run, "attempt_id": f"t.attempt_id + k * {FAR}"},
        MetricRow: {**own, **result, **node},
        LatestResult: {**own, **result, **node},
        Trouble: {**own, **run, **node},
    }


def _run(column: str) -> str:
    """Return the id of a run's copy: its first eight digits are the copy's number."""
    if connection.vendor == "postgresql":
        return f"(lpad(to_hex(k), 8, '0') || substr(t.{column}::text, 9))::uuid"
    return f"printf('%%08x', k) || substr(t.{column}, 9)"


def _copy(model: type[Model], own: Mapping[str, str], times: int) -> None:
    meta = model._meta
    columns = [str(field.column) for field in meta.concrete_fields]
    values = [own.get(name, f"t.{connection.ops.quote_name(name)}") for name in columns]
    statement = COPIES.format(
        table=meta.db_table,
        columns=", ".join(map(connection.ops.quote_name, columns)),
        values=", ".join(values),
    )
    with connection.cursor() as cursor:
        cursor.execute(statement, [times])
