"""Rows of a hub that has run for years, written by the database itself from one run of ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import psycopg
from django.db.models import Model
from psycopg import sql

from burnin.models import JobNode, MetricRow, RunNode, TestResult, TestRun

INDEXES = """SELECT i.indexrelid::regclass::text, pg_get_indexdef(i.indexrelid)
    FROM pg_index AS i JOIN pg_class AS t ON t.oid = i.indrelid
    WHERE t.relname = ANY(%s)
    AND NOT EXISTS (SELECT FROM pg_constraint AS c WHERE c.conindid = i.indexrelid)"""
GROWING = (TestRun, RunNode, TestResult, MetricRow, JobNode)


@dataclass(frozen=True)
class Pattern:
    """One judged run of one node, from which others are copied."""

    run: TestRun
    member: RunNode
    result: TestResult
    metric: MetricRow


@dataclass(frozen=True)
class Runs:
    """`count` runs of a job, step by step of it over all its nodes."""

    job_id: str
    node_ids: Sequence[int]
    count: int


def write(connection: psycopg.Connection, pattern: Pattern, runs: Runs, *, first: int) -> None:
    """Write runs, members, results and metrics. `first` numbers the first run of them all.

    The connection must be a superuser's: the database need not look up 40 million references.
    """
    connection.execute("SET session_replication_role = replica")
    connection.execute("SET synchronous_commit = off")
    connection.execute("DROP TABLE IF EXISTS pg_temp.wanted")
    connection.execute(
        """CREATE TEMP TABLE wanted AS
        SELECT ('00000000-0000-4000-8000-' || lpad(to_hex(%s + n), 12, '0'))::uuid AS run_id,
               (%s::bigint[])[1 + n %% %s] AS node_id, 1 + n / %s AS step
        FROM generate_series(0, %s - 1) AS n""",
        (first, list(runs.node_ids), len(runs.node_ids), len(runs.node_ids), runs.count),
    )
    job = sql.SQL("{}::uuid").format(sql.Literal(str(runs.job_id)))
    own = {"job_id": job, "step": sql.SQL("least(w.step, 32767)")}
    _copy(connection, pattern.run, {**own, "id": sql.SQL("w.run_id")})
    member = {"run_id": sql.SQL("w.run_id"), "node_id": sql.SQL("w.node_id"), "job_id": job}
    _copy(connection, pattern.member, member)
    _copy(connection, pattern.result, {"run_id": sql.SQL("w.run_id"), "attempt_id": sql.NULL})
    measured = {"result_id": sql.SQL("r.id"), "node_id": sql.SQL("w.node_id")}
    results = "JOIN burnin_testresult AS r ON r.run_id = w.run_id"
    _copy(connection, pattern.metric, measured, join=results)


@contextmanager
def without_indexes(connection: psycopg.Connection) -> Iterator[None]:
    """Write faster: the indexes that keep no constraint are made anew when the block ends."""
    tables = [model._meta.db_table for model in GROWING]
    found = connection.execute(INDEXES, (tables,)).fetchall()
    for name, _ in found:
        connection.execute(sql.SQL("DROP INDEX {}").format(sql.Identifier(name)))
    yield
    for _, definition in found:
        connection.execute(definition)


def settle(connection: psycopg.Connection) -> None:
    """Do what autovacuum does after a while, so that plans fit the tables."""
    for model in GROWING:
        statement = sql.SQL("VACUUM ANALYZE {}").format(sql.Identifier(model._meta.db_table))
        connection.execute(statement)


def _copy(
    connection: psycopg.Connection,
    row: Model,
    own: Mapping[str, sql.Composable],
    *,
    join: str = "",
) -> None:
    """Insert the row once for each wanted run, with these columns of each one's own."""
    meta = type(row)._meta
    counted = {"id"} - own.keys()  # the database numbers them itself
    columns = [
        name for each in meta.concrete_fields if (name := each.column) and name not in counted
    ]
    values = [own.get(name) or sql.Identifier("t", name) for name in columns]
    statement = sql.SQL("INSERT INTO {table} ({columns}) SELECT {values} FROM wanted AS w ").format(
        table=sql.Identifier(meta.db_table),
        columns=sql.SQL(", ").join(map(sql.Identifier, columns)),
        values=sql.SQL(", ").join(values),
    )
    source = sql.SQL("CROSS JOIN {} AS t WHERE t.id = {}").format(
        sql.Identifier(meta.db_table), sql.Literal(row.pk)
    )
    connection.execute(statement + sql.SQL(f"{join} ") + source)
