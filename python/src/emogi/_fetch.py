"""Reading the rows of a query as arrays.

COPY in binary sends a message for each row, and taking messages one by one is what costs. So the server puts many values of a
column into one array, and COPY sends few rows with such arrays. A chunk is CHUNK_ROWS rows of the query. Values of a type
without a fixed length come as one string of bytes and an array of their lengths.
"""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import psycopg
from psycopg import sql
from psycopg.pq import ConnStatus, ExecStatus, TransactionStatus

from ._progress import Progress, watch
from ._result import Column, Result
from ._types import BY_OID, BYTES, FIXED, TEXT

CHUNK_ROWS = 262_144
SECONDS_TO_CANCEL = 5.0

_SIGNATURE = b"PGCOPY\n\xff\r\n\0"
_INT2 = struct.Struct(">h")
_INT4 = struct.Struct(">i")
_ARRAY = struct.Struct(">iiIii")     # dimensions, has NULLs, type of elements, length, lower bound

# The rows of a column in a chunk: values (of a fixed length: one for each row; else bytes), lengths where they differ, and which are valid.
Chunk = tuple[np.ndarray, np.ndarray | None, np.ndarray | None]

ProgressArgument = bool | Callable[[Progress], None] | None


class Plan:
    """A column to be read: its name, its type, and whether it may be NULL."""

    def __init__(self, name: str, type_: str, nullable: bool = True):
        self.name, self.type, self.nullable = name, type_, nullable
        self.fixed = FIXED.get(type_)

    @property
    def _is_missing(self) -> sql.Composable:
        return sql.SQL("{} IS NULL" if self.fixed else "{}::text IS NULL").format(sql.Identifier(self.name))

    def aggregates(self) -> list[sql.Composable]:
        """Get what the server collects of a chunk: the values that are there, the lengths if they differ, and which are NULL."""
        value: sql.Composable = sql.Identifier(self.name)
        parts: list[sql.Composable] = []
        if self.fixed:
            only = sql.SQL(" FILTER (WHERE NOT ({}))").format(self._is_missing) if self.nullable else sql.SQL("")
            parts.append(sql.SQL("array_agg({}){}").format(value, only))
        else:
            if self.type != BYTES:
                value = sql.SQL("convert_to({}::text, 'UTF8')").format(value)
            parts.append(sql.SQL("string_agg({}, '')").format(value))
            parts.append(sql.SQL("array_agg(coalesce(octet_length({}), 0))").format(value))
        if self.nullable:
            parts.append(sql.SQL("CASE WHEN count({}) < count(*) THEN array_agg({}) END").format(sql.Identifier(self.name), self._is_missing))
        return parts

    def take(self, fields: list[memoryview | None]) -> Chunk:
        """Take the fields of this column from the front of those of a chunk: values, lengths, validity."""
        if self.fixed:
            values, lengths = read_array(fields.pop(0), self.fixed.sent, self.fixed.kept), None
        else:
            joined = fields.pop(0)
            values = np.frombuffer(joined if joined is not None else b"", dtype=np.uint8)
            lengths = read_array(fields.pop(0), np.dtype(">i4"), np.dtype("i8"))
        valid = None
        if self.nullable and (missing := fields.pop(0)) is not None:
            valid = ~read_array(missing, np.dtype("?"), np.dtype("?"))
            if self.fixed:
                spread = np.zeros(len(valid), dtype=values.dtype)
                spread[valid] = values
                values = spread
        return values, lengths, valid

    def join(self, chunks: list[Chunk]) -> Column:
        """Make the column of its chunks."""
        kept = self.fixed.kept if self.fixed else np.dtype(np.uint8)
        values = np.concatenate([chunk[0] for chunk in chunks]) if chunks else np.empty(0, kept)
        offsets = valid = None
        if not self.fixed:
            lengths = np.concatenate([chunk[1] for chunk in chunks]) if chunks else np.empty(0, "i8")
            offsets = np.concatenate(([0], np.cumsum(lengths, dtype="i8"))).astype("i8")
        if any(chunk[2] is not None for chunk in chunks):
            valid = np.concatenate([np.ones(_rows(chunk), "?") if chunk[2] is None else chunk[2] for chunk in chunks])
        return Column(self.name, self.type, values, offsets, valid)


def _rows(chunk: Chunk) -> int:
    return len(chunk[0] if chunk[1] is None else chunk[1])


def reorder(chunk: Chunk, order: np.ndarray) -> Chunk:
    """Put the rows of a column into another order."""
    values, lengths, valid = chunk
    if lengths is None:
        values = values[order]
    else:
        starts = (np.cumsum(lengths) - lengths)[order]
        lengths = lengths[order]
        shifts = starts - (np.cumsum(lengths) - lengths)
        values = values[np.repeat(shifts, lengths) + np.arange(len(values))]
    return values, lengths, None if valid is None else valid[order]


def read_array(field: memoryview | None, sent: np.dtype, kept: np.dtype) -> np.ndarray:
    """Decode an array without NULLs, as array_send has written it: a head, then length and value of each element."""
    if field is None:
        return np.empty(0, kept)
    dimensions, has_nulls, _, count, _ = _ARRAY.unpack_from(field)
    elements = np.frombuffer(field, np.dtype([("length", ">i4"), ("value", sent)]), offset=_ARRAY.size)
    if dimensions != 1 or has_nulls or len(elements) != count or not (elements["length"] == sent.itemsize).all():
        raise psycopg.DataError("an array that was received is not of the form expected")
    return np.ascontiguousarray(elements["value"]).astype(kept, copy=False)


def read_row(message: memoryview) -> list[memoryview | None]:
    """Split a row of COPY in binary into its fields; None for NULL."""
    (count,) = _INT2.unpack_from(message)
    fields: list[memoryview | None] = []
    at = _INT2.size
    for _ in range(count):
        (length,) = _INT4.unpack_from(message, at)
        at += _INT4.size
        fields.append(None if length < 0 else message[at : at + length])
        at += max(length, 0)
    if at != len(message):
        raise psycopg.DataError("a row that was received is not of the form expected")
    return fields


def without_head(message: memoryview) -> memoryview:
    """Drop the head of the stream, which comes with the first row."""
    if bytes(message[: len(_SIGNATURE)]) != _SIGNATURE:
        raise psycopg.DataError("what was received is no COPY in binary")
    (extension,) = _INT4.unpack_from(message, len(_SIGNATURE) + 4)
    return message[len(_SIGNATURE) + 8 + extension :]


def read_rows(connection: psycopg.Connection[Any], command: sql.Composed) -> list[list[memoryview | None]]:
    """Run a COPY and get the fields of its rows."""
    rows: list[list[memoryview | None]] = []
    try:
        with connection.cursor() as cursor, cursor.copy(command) as copy:
            first = True
            for block in copy:
                message = memoryview(block)
                if first:
                    message, first = without_head(message), False
                if not len(message) or _INT2.unpack_from(message)[0] == -1:
                    continue
                rows.append(read_row(message))
    except BaseException:
        end_call(connection)
        raise
    return rows


def end_call(connection: psycopg.Connection[Any]) -> None:
    """Cancel the call of a connection, if it still runs, as after Ctrl-C, and take what is still to come, so that the connection is of use."""
    pgconn = connection.pgconn
    if pgconn.status != ConnStatus.OK or pgconn.transaction_status != TransactionStatus.ACTIVE:
        return
    connection.cancel_safe(timeout=SECONDS_TO_CANCEL)
    while (result := pgconn.get_result()) is not None:
        if result.status == ExecStatus.COPY_OUT:
            with contextlib.suppress(psycopg.OperationalError):
                while pgconn.get_copy_data(0)[0] > 0:
                    pass


def run(
    connection: psycopg.Connection[Any],
    query: sql.Composable,
    plans: Sequence[Plan],
    progress: ProgressArgument = None,
    description: str | None = None,
) -> Result:
    """Run a query whose columns are known, and get its rows as arrays."""
    aggregates = [part for plan in plans for part in plan.aggregates()]
    # Where the server sorts by chunk, rows of one chunk come in any order, so each brings its place.
    command = sql.SQL(
        'COPY (SELECT "emogi row" / {0}, array_agg(("emogi row" % {0})::int), {1} FROM (SELECT row_number() OVER () - 1 AS "emogi row", q.*'
        ' FROM ({2}) AS q({3})) AS numbered GROUP BY 1) TO STDOUT (FORMAT binary)'
    ).format(
        sql.Literal(CHUNK_ROWS),
        sql.SQL(", ").join(aggregates),
        query,
        sql.SQL(", ").join(sql.Identifier(plan.name) for plan in plans),
    )
    with watch(connection, progress, description):
        rows = read_rows(connection, command)
    rows.sort(key=lambda fields: int.from_bytes(fields[0] or b"", "big"))
    chunks: list[list[Chunk]] = [[] for _ in plans]
    while rows:
        fields = rows.pop(0)
        places = read_array(fields[1], np.dtype(">i4"), np.dtype("i4"))
        order = None if (places[1:] > places[:-1]).all() else np.argsort(places)
        del fields[:2]
        for plan, column in zip(plans, chunks):
            chunk = plan.take(fields)
            column.append(chunk if order is None else reorder(chunk, order))
    return Result([plan.join(column) for plan, column in zip(plans, chunks)])


def fetch(
    connection: psycopg.Connection[Any],
    query: str | sql.Composable,
    parameters: Sequence[Any] | dict[str, Any] | None = None,
    *,
    progress: ProgressArgument = None,
) -> Result:
    """Run any SELECT and get its rows as arrays, in the order of the query.

    ``query`` may call the functions of emogi or not, and has psycopg's placeholders for ``parameters``. Columns of a type that
    has no array here come as text. Two columns of the same name are an error: name them with AS.
    """
    if isinstance(query, sql.Composable):
        query = query.as_string(connection)
    bound = psycopg.ClientCursor(connection).mogrify(query, parameters) if parameters is not None else query
    inner = sql.SQL(bound.rstrip().rstrip(";").replace("{", "{{").replace("}", "}}")).format()  # type: ignore[arg-type]
    with connection.cursor() as cursor:
        cursor.execute(sql.SQL("SELECT * FROM ({}) AS q LIMIT 0").format(inner))
        plans = [Plan(column.name, BY_OID.get(column.type_code, TEXT)) for column in cursor.description or ()]
    names = [plan.name for plan in plans]
    if len(set(names)) < len(names):
        raise psycopg.ProgrammingError("two columns of the query have the same name: give them names with AS")
    if not plans:
        raise psycopg.ProgrammingError("the query returns no columns")
    return run(connection, inner, plans, progress)
