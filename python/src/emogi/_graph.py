"""Handles of graphs: what the graph argument says, and how a call is put together."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import psycopg
from psycopg import sql

from ._fetch import Plan, ProgressArgument, run
from ._functions import FUNCTIONS, Functions
from ._progress import extension_schema
from ._result import Result

# Columns that hold NULL in some rows; no other column of a function does.
NULLABLE = {"edge", "predecessor", "parent"}

_KEY_TYPES = ("bigint", "text", "uuid")


@dataclass(frozen=True)
class _Form:
    """One form of a function: its arguments after the graph, and its columns. The type `key` is that of the vertices."""

    arguments: tuple[tuple[str, str], ...]
    columns: tuple[tuple[str, str], ...]
    suffixed: bool
    returns: str


def _forms(function: str) -> list[_Form]:
    return [_Form(*form) for form in FUNCTIONS[function]]


def _identifier_list(columns: str | Sequence[str]) -> str:
    """Write one end of the edges for the graph argument: a column, or several in parentheses."""
    quote = lambda name: sql.Identifier(name).as_string(None)  # noqa: E731
    if isinstance(columns, str):
        return quote(columns)
    return "(" + ", ".join(quote(name) for name in columns) + ")"


def _is_many(value: Any) -> bool:
    return isinstance(value, (list, set, frozenset, range, np.ndarray)) or (hasattr(value, "__array__") and not np.isscalar(value))


def _plain(value: Any) -> Any:
    """Turn numpy's scalars and arrays, and what is like a list, into Python's own."""
    if isinstance(value, np.generic):
        return value.item()
    if _is_many(value):
        return [_plain(part) for part in (np.asarray(value).tolist() if hasattr(value, "__array__") else value)]
    return value


def _key_type(value: Any) -> str | None:
    """Tell the type of a key by its value; None where it is not known."""
    if isinstance(value, list):
        types = {_key_type(part) for part in value} - {None}
        if len(types) > 1:
            raise TypeError(f"vertices of several types in one list: {', '.join(sorted(map(str, types)))}")
        return next(iter(types), None)
    if value is None:
        return None
    if isinstance(value, bool):
        raise TypeError("a vertex is an int, a str, a uuid.UUID or a tuple, not a bool")
    if isinstance(value, int):
        return "bigint"
    if isinstance(value, uuid.UUID):
        return "uuid"
    return "text"


def _key_literal(value: Any) -> sql.Composable:
    """Write a key. A tuple is a key of several columns, which the server writes as text."""
    if isinstance(value, tuple):
        return sql.SQL("ROW({})::text").format(sql.SQL(", ").join(sql.Literal(_plain(part)) for part in value))
    if value is None or isinstance(value, (int, str)):
        return sql.Literal(value)
    return sql.Literal(str(value))


class Graph(Functions):
    """A graph: which connection, and what the extension's graph argument says. It holds no edges itself.

    ``graph`` is a relation or a query, in any form that docs/graph-argument.md has: ``"follows"``, ``"roads(a, b, km)"``,
    ``"SELECT src, dst FROM follows WHERE since > now() - interval '1 week'"``. Where columns are named by arguments it is the name of a
    relation: as it is written in SQL, or a sequence, ``("social", "Follows")``, whose parts are quoted.

    source, target   the columns of the two ends; a sequence of names where several columns are the key together
    weight           the column of weights; it takes ``source`` and ``target``
    reverse_cost     the column with the cost of the way back
    edge_id          the column with the name of an edge
    parameters       values of ``$1``, ``$2`` and so on in a query
    vertices         a relation or query of vertices that count also without an edge: ``emogi_with_vertices``
    direction        ``"out"``, ``"in"`` or ``"both"``: for all calls that do not say one themselves
    keys             the type of the vertices: ``"bigint"``, ``"text"`` or ``"uuid"``. None: it is asked when it is needed
    progress         for all calls that do not say it themselves: True for a bar of tqdm, or a function that is given each ``Progress``
    """

    def __init__(
        self,
        connection: psycopg.Connection[Any],
        graph: str | sql.Composable | Sequence[str],
        *,
        source: str | Sequence[str] | None = None,
        target: str | Sequence[str] | None = None,
        weight: str | None = None,
        reverse_cost: str | None = None,
        edge_id: str | None = None,
        parameters: Sequence[Any] | None = None,
        vertices: str | None = None,
        direction: str | None = None,
        keys: str | None = None,
        progress: ProgressArgument = None,
    ):
        if keys is not None and keys not in _KEY_TYPES:
            raise ValueError(f"keys is {keys!r}, and not one of {', '.join(_KEY_TYPES)}")
        if direction not in (None, "out", "in", "both"):
            raise ValueError(f"direction is {direction!r}, and not one of out, in, both")
        self.connection = connection
        self.direction = direction
        self.progress = progress
        self._keys = keys
        self._schema: str | None = None
        self._parameters = parameters
        self._vertices = vertices
        self._text = self._argument_text(graph, source, target, weight, reverse_cost, edge_id)

    def _argument_text(self, graph: Any, source: Any, target: Any, weight: Any, reverse_cost: Any, edge_id: Any) -> str:
        if isinstance(graph, sql.Composable):
            text = graph.as_string(self.connection)
        elif isinstance(graph, str):
            text = graph
        else:
            text = ".".join(sql.Identifier(part).as_string(self.connection) for part in graph)
        if source is None and target is None:
            if weight or reverse_cost or edge_id:
                raise ValueError("weight, reverse_cost and edge_id are columns beside source and target: name these, too")
            return text
        if source is None or target is None:
            raise ValueError("source and target are named together")
        if (reverse_cost or edge_id) and not weight:
            raise ValueError("reverse_cost and edge_id stand behind a weight: name that, too")
        columns = [_identifier_list(source), _identifier_list(target)]
        columns += [sql.Identifier(name).as_string(None) for name in (weight, reverse_cost, edge_id) if name]
        if reverse_cost and not edge_id and reverse_cost != "reverse_cost":
            raise ValueError("of four columns the last is the cost of the way back only if it is called reverse_cost: name edge_id, too")
        if edge_id == "reverse_cost" and not reverse_cost:
            raise ValueError("a column reverse_cost in the place of edge_id would be read as the cost of the way back")
        return f"{text}({', '.join(columns)})"

    def __repr__(self) -> str:
        return f"<emogi.Graph: {self._text}>"

    @property
    def schema(self) -> str:
        """The schema that the extension is in."""
        if self._schema is None:
            self._schema = extension_schema(self.connection)
        return self._schema

    @property
    def argument(self) -> sql.Composable:
        """The graph argument, for SQL of your own: an expression of type text."""
        result: sql.Composable = sql.SQL("{}::text").format(sql.Literal(self._text))
        schema = sql.Identifier(self.schema)
        if self._parameters is not None:
            values = [sql.Literal(_plain(value)) for value in self._parameters]
            values_as_text = [sql.SQL("({})::text").format(value) for value in values]
            result = sql.SQL("{}.emogi_query({}, VARIADIC ARRAY[{}]::text[])").format(schema, result, sql.SQL(", ").join(values_as_text))
        if self._vertices is not None:
            result = sql.SQL("{}.emogi_with_vertices({}, {}::text)").format(schema, result, sql.Literal(self._vertices))
        return result

    @property
    def keys(self) -> str:
        """The type of the vertices as the functions return it: ``"bigint"``, ``"uuid"``, or ``"text"`` for all others."""
        if self._keys is None:
            self._keys = self._ask_keys()
        return self._keys

    def _ask_keys(self) -> str:
        """Find the first form of the functions that fits: a search from no vertex looks at the types and no further."""
        for kind in ("bigint", "uuid"):
            try:
                with self.connection.transaction(), self.connection.cursor() as cursor:
                    cursor.execute(
                        sql.SQL("SELECT FROM {}.emogi_bfs({}, {}::{}[])").format(
                            sql.Identifier(self.schema), self.argument, sql.Literal("{}"), sql.SQL(kind)
                        )
                    )
                return kind
            except psycopg.errors.DatatypeMismatch:
                continue
        return "text"

    def _choose(self, function: str, given: Mapping[str, Any]) -> _Form:
        """Choose the form that has all arguments that are given, and needs none that is not."""
        for form in _forms(function):
            names = [name for name, _ in form.arguments]
            needed = [name for name, type_ in form.arguments if type_.endswith("!")]
            if all(name in names for name in given) and all(name in given for name in needed):
                return form
        raise TypeError(f"{function} takes no such arguments together: {', '.join(given) or 'none'}")

    def _compose(self, function: str, arguments: Mapping[str, Any]) -> tuple[sql.Composable, _Form, str]:
        """Put a call together: the expression, its form, and the type of its vertices."""
        given = {name: _plain(value) for name, value in arguments.items() if value is not None}
        wanted = {name for form in _forms(function) for name, _ in form.arguments}
        if self.direction is not None and "direction" in wanted:
            given.setdefault("direction", self.direction)
        # A source or target of None is one that does not exist, and gives no rows.
        given.update({name: None for name in ("source", "target") if name in arguments and arguments[name] is None})
        form = self._choose(function, given)
        types = {name: type_.rstrip("!") for name, type_ in form.arguments}
        kind = next((found for name in given if types[name].startswith("key") and (found := _key_type(given[name]))), None)
        if kind is None and any(type_.startswith("key") for _, type_ in (*form.arguments, *form.columns)):
            kind = self.keys
        kind = kind or "bigint"
        parts = [sql.SQL("graph => {}").format(self.argument)]
        for name, value in given.items():
            parts.append(sql.SQL("{} => {}").format(sql.Identifier(name), self._typed(value, types[name], kind)))
        suffix = f"_{kind}" if form.suffixed and kind != "bigint" else ""
        call = sql.SQL("{}.{}({})").format(sql.Identifier(self.schema), sql.Identifier(f"emogi_{function}{suffix}"), sql.SQL(", ").join(parts))
        return call, form, kind

    def _typed(self, value: Any, type_: str, kind: str) -> sql.Composable:
        """Write an argument as a literal of its SQL type."""
        if type_.startswith("key"):
            if isinstance(value, list):
                literals = sql.SQL(", ").join(_key_literal(part) for part in value)
                return sql.SQL("ARRAY[{}]::{}[]").format(literals, sql.SQL(kind))
            if type_ == "key[]":
                return self._typed([value], type_, kind)
            return sql.SQL("({})::{}").format(_key_literal(value), sql.SQL(kind))
        if isinstance(value, sql.Composable):
            value = value.as_string(self.connection)
        return sql.SQL("({})::{}").format(sql.Literal(value), sql.SQL(type_))

    def call(self, function: str, /, **arguments: Any) -> sql.Composable:
        """Get the call of a function for SQL of your own: what stands in FROM. The names are those of the methods::

        emogi.fetch(connection, sql.SQL("SELECT level, count(*) FROM {} GROUP BY level ORDER BY level").format(g.call("bfs", source=1)))
        """
        return self._compose(function, arguments)[0]

    def _rows(self, function: str, arguments: Mapping[str, Any], select: Sequence[str] | None, progress: ProgressArgument) -> Result:
        """Call a function that returns rows."""
        call, form, kind = self._compose(function, arguments)
        types = {name: kind if type_ == "key" else type_ for name, type_ in form.columns}
        names = list(types) if select is None else list(select)
        for name in names:
            if name not in types:
                raise ValueError(f"{function} has no column {name!r}, but {', '.join(types)}")
        if not names:
            raise ValueError("select names no column")
        query = sql.SQL("SELECT {} FROM {} AS call").format(sql.SQL(", ").join(sql.Identifier("call", name) for name in names), call)
        plans = [Plan(name, types[name], name in NULLABLE) for name in names]
        return run(self.connection, query, plans, self.progress if progress is None else progress, f"emogi_{function}")

    def _record(self, function: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Call a function that returns one row."""
        call, _, _ = self._compose(function, arguments)
        with self.connection.cursor(row_factory=psycopg.rows.dict_row) as cursor:
            row = cursor.execute(sql.SQL("SELECT * FROM {}").format(call)).fetchone()
        assert row is not None
        return row

    def _value(self, function: str, arguments: Mapping[str, Any]) -> Any:
        """Call a function that returns one value."""
        call, _, _ = self._compose(function, arguments)
        with self.connection.cursor(row_factory=psycopg.rows.tuple_row) as cursor:
            row = cursor.execute(sql.SQL("SELECT {}").format(call)).fetchone()
        assert row is not None
        return row[0]
