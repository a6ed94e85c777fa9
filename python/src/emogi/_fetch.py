"""Reading the rows of a query as arrays.

COPY in binary sends a message for each row. They are joined to blocks as they come, and a block is taken apart column by column: where
all rows have the same form, as one array of records, else by the place where the column begins in each row. There is no loop over the
rows but the one that takes the messages.
"""

from __future__ import annotations

import contextlib
import re
import struct
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any

import numpy as np
import psycopg
from psycopg import sql
from psycopg.errors import error_from_result
from psycopg.pq import ConnStatus, ExecStatus, TransactionStatus
from psycopg.waiting import Wait

from ._notices import warned
from ._progress import Progress, watch
from ._result import Column, Result
from ._types import BY_OID, BYTES, FIXED, TEXT

# A block is taken apart when it has so many rows or bytes.
BLOCK_ROWS = 65_536
BLOCK_BYTES = 4_194_304
# Values that are longer in the middle are copied one by one, as that costs less than a place for each byte.
LONG_BYTES = 64
SECONDS_TO_CANCEL = 5.0

_SIGNATURE = b"PGCOPY\n\xff\r\n\0"
_INT4 = struct.Struct(">i")
_END = b"\xff\xff"
_WAIT_R = Wait.R
# Statements that have rows and are no query.
_NOT_SELECT = re.compile(r"\s*(explain|show|insert|update|delete|merge|call|execute|fetch)\b", re.IGNORECASE)

# The rows of a column in a block: values (of a fixed length: one for each row; else bytes), lengths where they differ, and which are valid.
Part = tuple[np.ndarray, np.ndarray | None, np.ndarray | None]

ProgressArgument = bool | Callable[[Progress], object] | None


class Plan:
    """A column to be read: its name and its type."""

    def __init__(self, name: str, type_: str):
        self.name, self.type = name, type_
        self.fixed = FIXED.get(type_)

    def sent(self, utf8: bool) -> sql.Composable:
        """Write what the server sends: a fixed type as it is, a bytea as well, and anything else as text in UTF-8."""
        column: sql.Composable = sql.Identifier(self.name)
        if self.fixed or self.type == BYTES:
            return column
        return sql.SQL("{}::text" if utf8 else "convert_to({}::text, 'UTF8')").format(column)

    def join(self, parts: list[Part]) -> Column:
        """Make the column of its parts."""
        kept = self.fixed.kept if self.fixed else np.dtype(np.uint8)
        values = np.concatenate([part[0] for part in parts]) if parts else np.empty(0, kept)
        offsets = valid = None
        if not self.fixed:
            lengths = np.concatenate([part[1] for part in parts if part[1] is not None]) if parts else np.empty(0, "i8")
            offsets = np.concatenate(([0], np.cumsum(lengths, dtype="i8"))).astype("i8")
        if any(part[2] is not None for part in parts):
            valid = np.concatenate([np.ones(_rows(part), "?") if part[2] is None else part[2] for part in parts])
        return Column(self.name, self.type, values, offsets, valid)


def need_connection(connection: Any) -> None:
    """See that a connection is one of psycopg 3 that waits for its answers."""
    if not isinstance(connection, psycopg.Connection):
        kind = f"{type(connection).__module__}.{type(connection).__name__}"
        raise TypeError(f"the first argument must be a psycopg.Connection, not {kind}; emogi.connect(...) makes one from a connection string")


def _rows(part: Part) -> int:
    return len(part[0] if part[1] is None else part[1])


def _unexpected() -> psycopg.DataError:
    return psycopg.DataError("what was received is not of the form expected")


def take_apart(block: bytearray, lengths: list[int], plans: Sequence[Plan]) -> list[Part]:
    """Get the columns of a block of rows."""
    data = np.frombuffer(block, np.uint8)
    if all(plan.fixed for plan in plans) and (parts := _alike(data, len(lengths), plans)) is not None:
        return parts
    return _by_places(data, np.array(lengths, "i8"), plans)


def _alike(data: np.ndarray, rows: int, plans: Sequence[Plan]) -> list[Part] | None:
    """Get the columns of rows that all have the same form. None where one has another, for a value is NULL."""
    fields: list[tuple[str, Any]] = [("count", ">i2")]
    for at, plan in enumerate(plans):
        assert plan.fixed
        fields += [(f"length{at}", ">i4"), (f"value{at}", plan.fixed.sent)]
    form = np.dtype(fields)
    if len(data) != rows * form.itemsize:
        return None
    records = data.view(form)
    if not (records["count"] == len(plans)).all():
        return None
    parts: list[Part] = []
    for at, plan in enumerate(plans):
        assert plan.fixed
        if not (records[f"length{at}"] == plan.fixed.sent.itemsize).all():
            return None
        parts.append((records[f"value{at}"].astype(plan.fixed.kept), None, None))
    return parts


def _at(data: np.ndarray, places: np.ndarray, type_: np.dtype) -> np.ndarray:
    """Get the values that begin at places among bytes, wherever those are."""
    if not len(places):
        return np.empty(0, type_)
    if places[-1] + type_.itemsize > len(data):
        raise _unexpected()
    # Every byte is taken for the beginning of a value, and of these some are chosen.
    return np.ndarray((len(data) - type_.itemsize + 1,), type_, data, strides=(1,))[places]


def _by_places(data: np.ndarray, lengths: np.ndarray, plans: Sequence[Plan]) -> list[Part]:
    """Get the columns of rows of any form, each by the place where it begins in each row."""
    ends = np.cumsum(lengths)
    places = ends - lengths
    if not (_at(data, places, np.dtype(">i2")) == len(plans)).all():
        raise _unexpected()
    places += 2
    parts: list[Part] = []
    for plan in plans:
        sizes = _at(data, places, np.dtype(">i4")).astype("i8")
        places += _INT4.size
        there = sizes >= 0
        valid = None if there.all() else there
        sizes[~there] = 0
        if (places + sizes > ends).any():
            raise _unexpected()
        if plan.fixed:
            if (sizes[there] != plan.fixed.sent.itemsize).any():
                raise _unexpected()
            values = np.zeros(len(sizes), plan.fixed.kept)
            values[there] = _at(data, places[there], plan.fixed.sent)
            parts.append((values, None, valid))
        else:
            parts.append((_bytes_at(data, places, sizes), sizes, valid))
        places = places + sizes
    if (places != ends).any():
        raise _unexpected()
    return parts


def _bytes_at(data: np.ndarray, places: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Put the bytes of values that begin at places one behind the other."""
    total = int(sizes.sum())
    if total > LONG_BYTES * len(sizes):
        view = memoryview(data)
        return np.frombuffer(b"".join([view[at : at + size] for at, size in zip(places.tolist(), sizes.tolist())]), np.uint8)
    # A mark where a value begins and one behind it make, summed up, a mask of the bytes of all values.
    mask = np.zeros(len(data) + 1, np.int8)
    begins, sizes = places[sizes > 0], sizes[sizes > 0]
    mask[begins] = 1
    mask[begins + sizes] = -1
    np.cumsum(mask, dtype=np.int8, out=mask)
    return data[mask[:-1].view("?")]


def _drop_head(block: bytearray, lengths: list[int]) -> None:
    """Drop the head of the stream, which comes before the first row or with it."""
    if not block.startswith(_SIGNATURE) or len(block) < len(_SIGNATURE) + 8:
        raise psycopg.DataError("the received data is not a binary COPY")
    (extension,) = _INT4.unpack_from(block, len(_SIGNATURE) + 4)
    size = len(_SIGNATURE) + 8 + extension
    del block[:size]
    lengths[0] -= size
    if not lengths[0]:
        del lengths[0]


def _drop_end(block: bytearray, lengths: list[int]) -> None:
    """Drop the mark behind the last row."""
    if not lengths or lengths[-1] != len(_END) or not block.endswith(_END):
        raise psycopg.DataError("the end of the binary COPY is missing")
    del block[-len(_END) :], lengths[-1]


def _blocks(connection: psycopg.Connection[Any], use: Callable[[bytearray, list[int]], None]) -> Generator[Any, Any, None]:
    """Have each block of a COPY used, as psycopg's own generators read: what is yielded is what to wait for.

    psycopg would start such a generator for each row, which takes longer than all that is done here with it. A row goes into the
    block at once, as many small objects kept have Python's garbage collector look at them again and again.
    """
    pgconn = connection.pgconn
    get, count, first = pgconn.get_copy_data, 1, True
    block, lengths = bytearray(), list[int]()
    while count >= 0:
        count, row = get(1)
        while count > 0:
            block += row
            lengths.append(count)
            count, row = get(1)
        if first and lengths:
            _drop_head(block, lengths)
            first = False
        # The last message is kept for the end, which alone knows whether it is the mark.
        if len(lengths) > BLOCK_ROWS or (len(block) > BLOCK_BYTES and len(lengths) > 1):
            rest = bytearray(block[len(block) - lengths[-1] :])
            del block[len(block) - lengths[-1] :]
            use(block, lengths[:-1])
            block, lengths = rest, lengths[-1:]
        if count == 0:
            while not (yield _WAIT_R):
                pass
            pgconn.consume_input()
    error = None
    while True:
        while pgconn.is_busy():
            while not (yield _WAIT_R):
                pass
            pgconn.consume_input()
        result = pgconn.get_result()
        if result is None:
            break
        if result.status != ExecStatus.COMMAND_OK:
            error = error_from_result(result, encoding=connection.info.encoding)
    if error is not None:
        raise error
    _drop_end(block, lengths)
    if lengths:
        use(block, lengths)


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
    """Run a query whose columns are known, and get its rows as arrays, in its order."""
    utf8 = connection.info.parameter_status("client_encoding") == "UTF8"
    # The query has lines of its own, as a comment may end it.
    command = sql.SQL("COPY (SELECT {} FROM (\n{}\n) AS q({})) TO STDOUT (FORMAT binary)").format(
        sql.SQL(", ").join(plan.sent(utf8) for plan in plans), query, sql.SQL(", ").join(sql.Identifier(plan.name) for plan in plans)
    )
    columns: list[list[Part]] = [[] for _ in plans]

    def use(block: bytearray, lengths: list[int]) -> None:
        for column, part in zip(columns, take_apart(block, lengths, plans)):
            column.append(part)

    with warned(connection), watch(connection, progress, description):
        try:
            with connection.cursor() as cursor, cursor.copy(command):
                connection.wait(_blocks(connection, use))
        except BaseException:
            end_call(connection)
            raise
    return Result([plan.join(column) for plan, column in zip(plans, columns)])


def fetch(
    connection: psycopg.Connection[Any],
    query: str | sql.Composable,
    parameters: Sequence[Any] | Mapping[str, Any] | None = None,
    *,
    progress: ProgressArgument = None,
) -> Result:
    """Run any SELECT and get its rows as arrays, in the order of the query.

    ``query`` can be any query, with or without functions of emogi, and has psycopg's placeholders for ``parameters``. Columns of
    types without an array are returned as text. Two columns of the same name are an error: rename them with AS.
    """
    need_connection(connection)
    if isinstance(query, sql.Composable):
        query = query.as_string(connection)
    if not isinstance(query, str):
        raise TypeError(f"a query must be a str or composed by psycopg.sql, not {type(query).__name__}")
    if parameters is not None and (isinstance(parameters, str) or not isinstance(parameters, (Sequence, Mapping))):
        raise TypeError(f"parameters must be a list or a dict, not {type(parameters).__name__}")
    bound = psycopg.ClientCursor(connection).mogrify(query, parameters) if parameters is not None else query
    if match := _NOT_SELECT.match(bound):
        raise psycopg.ProgrammingError(f"fetch takes one SELECT, VALUES or TABLE; for {match[1].upper()} use execute")
    inner = written(bound)
    try:
        plans = [Plan(name, BY_OID.get(type_, TEXT)) for name, type_ in describe(connection, inner)]
    except psycopg.errors.SyntaxError as error:
        if hasattr(error, "add_note"):
            error.add_note("fetch takes one SELECT, VALUES or TABLE. For other statements there is execute.")
        raise
    names = [plan.name for plan in plans]
    if len(set(names)) < len(names):
        raise psycopg.ProgrammingError("two columns of the query have the same name: rename them with AS")
    if not plans:
        raise psycopg.ProgrammingError("the query returns no columns")
    return run(connection, inner, plans, progress)


def describe(connection: psycopg.Connection[Any], query: sql.Composable) -> list[tuple[str, int]]:
    """Get name and type of each column of a query."""
    with connection.cursor() as cursor:
        cursor.execute(sql.SQL("SELECT * FROM (\n{}\n) AS q LIMIT 0").format(query))
        return [(column.name, column.type_code) for column in cursor.description or ()]


def written(text: str) -> sql.Composable:
    """Make a part of a statement of SQL that stands in a text."""
    return sql.SQL(text.rstrip().rstrip(";").replace("{", "{{").replace("}", "}}")).format()  # type: ignore[arg-type]
