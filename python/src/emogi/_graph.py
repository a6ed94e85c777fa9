"""Handles of graphs: what the graph argument says, and how a call is put together."""

from __future__ import annotations

import contextlib
import decimal
import difflib
import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import psycopg
from psycopg import sql

from ._arguments import Direction, KeyType
from ._fetch import Plan, ProgressArgument, describe, need_connection, run, written
from ._functions import FUNCTIONS, OTHER_NAMES, Functions
from ._notices import warned
from ._progress import extension_schema
from ._result import Result

_NAME = r'(?:"(?:[^"]|"")+"|[^\W\d][\w$]*)'
# A relation, perhaps qualified, and what follows it: nothing, or a condition.
_RELATION = re.compile(rf"\s*((?!(?:select|with|values|table)\b){_NAME}(?:\s*\.\s*{_NAME})*)\s*(\swhere\b.*)?", re.IGNORECASE | re.DOTALL)
_KEY_TYPES = ("bigint", "text", "uuid")
_KEYS_BY_OID = {20: "bigint", 21: "bigint", 23: "bigint", 2950: "uuid"}


@dataclass(frozen=True)
class _Form:
    """One form of a function: its arguments after the graph, and its columns. The type `key` is that of the vertices."""

    arguments: tuple[tuple[str, str], ...]
    columns: tuple[tuple[str, str], ...]
    suffixed: bool
    returns: str


def _forms(function: str) -> list[_Form]:
    if function not in FUNCTIONS:
        raise ValueError(f"no function {function!r} takes a graph; the functions are {', '.join(FUNCTIONS)}")
    return [_Form(*form) for form in FUNCTIONS[function]]


def _identifier(name: Any) -> str:
    """Write the name of a column or of a part of a relation."""
    if not isinstance(name, str):
        raise TypeError(f"a name must be a str, not {type(name).__name__}")
    # libpq would end the statement at a zero byte.
    if not name or "\0" in name:
        raise ValueError(f"invalid name: {name!r}")
    return sql.Identifier(name).as_string(None)


def _identifier_list(columns: str | Sequence[str]) -> str:
    """Write one end of the edges for the graph argument: a column, or several in parentheses."""
    if isinstance(columns, str):
        return _identifier(columns)
    if not columns:
        raise ValueError("source and target must name at least one column each")
    return "(" + ", ".join(map(_identifier, columns)) + ")"


def _name_columns(text: str, columns: Sequence[str]) -> str:
    """Write the columns behind the name of a relation, before its condition if it has one."""
    match = _RELATION.fullmatch(text)
    if match is None:
        raise ValueError(f"source and target name columns of a relation, not of {text!r}: name them in it, or pass the name of a table or view")
    return f"{match[1]}({', '.join(columns)}){match[2] or ''}"


def _plain(value: Any) -> Any:
    """Turn numpy's scalars and arrays, and what is like a list, into Python's own, with None for what is masked or NA."""
    if value is None or isinstance(value, (str, int, float, tuple)):
        return value.item() if isinstance(value, np.generic) else value
    if value is np.ma.masked or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (list, set, frozenset, range)):
        return [_plain(part) for part in value]
    # Arrays of numpy, pandas, Arrow and polars. What numpy made of a masked one would have lost the mask.
    for name in ("tolist", "to_pylist", "to_list"):
        if callable(method := getattr(value, name, None)):
            return _plain(method())
    return value


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, decimal.Decimal)) and not isinstance(value, bool)


def _whole(value: Any) -> Any:
    """Turn a float that is a whole number into an int, as columns of pandas with NULLs have ids."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _key(value: Any) -> Any:
    """Get a vertex, or a list of them, as it is written. An error if it can be none."""
    if isinstance(value, list):
        if any(isinstance(part, list) for part in value):
            raise TypeError("vertices must be a list or an array of one dimension; a key of several columns is a tuple")
        return [_key(part) for part in value]
    value = _whole(value)
    if value is None or isinstance(value, (str, tuple, uuid.UUID)):
        return value
    if isinstance(value, (bool, float)) or hasattr(value, "__iter__") or hasattr(value, "__array__"):
        raise TypeError(f"a vertex must be an int, a str, a uuid.UUID or a tuple, and several a list or an array, not {type(value).__name__} {value!r}")
    return value


def _key_type(value: Any) -> str | None:
    """Tell the type of a key by its value; None where it is not known."""
    if isinstance(value, list):
        types = {_key_type(part) for part in value} - {None}
        if len(types) > 1:
            raise TypeError(f"the vertices of a list must have one type, not several types: {', '.join(sorted(map(str, types)))}")
        return next(iter(types), None)
    if value is None:
        return None
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


def _key_array(keys: list[Any], kind: str) -> sql.Composable:
    """Write several keys as an array."""
    return sql.SQL("ARRAY[{}]::{}[]").format(sql.SQL(", ").join(map(_key_literal, keys)), sql.SQL(kind))


def _two_columns(name: str, value: Any) -> sql.Composable | None:
    """Write a query of what stands in a dict, vertex: number or community, or in a list of pairs. None: it is neither."""
    if isinstance(value, Mapping) and name in ("start", "communities"):
        left, right = list(value), [_plain(part) for part in value.values()]
    elif isinstance(value, list) and name == "pairs" and all(isinstance(pair, (list, tuple)) and len(pair) == 2 for pair in value):
        left, right = [pair[0] for pair in value], [pair[1] for pair in value]
    else:
        return None
    left = _key(_plain(left))
    kind = _key_type(left) or "bigint"
    if name == "start":
        if not all(_is_number(part) for part in right):
            raise TypeError("the values of start must be numbers")
        second = sql.SQL("{}::float8[]").format(sql.Literal([float(part) for part in right]))
    else:
        right = _key(_plain(right))
        second = _key_array(right, _key_type(right) or "bigint")
    return sql.SQL("SELECT * FROM unnest({}, {})").format(_key_array(left, kind), second)


# What an argument is in Python, by its type in SQL.
_TAKEN = {
    "integer": ("an int", lambda value: isinstance(value, int) and not isinstance(value, bool)),
    "bigint": ("an int", lambda value: isinstance(value, int) and not isinstance(value, bool)),
    "double precision": ("a number", _is_number),
    "boolean": ("True or False", lambda value: isinstance(value, bool)),
    "text": ("a str", lambda value: isinstance(value, (str, sql.Composable))),
}
_QUERIES = {
    "start": "a query, or a dict of vertices and numbers",
    "communities": "a query, or a dict of vertices and communities",
    "pairs": "a query, or a list of pairs of vertices",
}


def _other_name(name: str) -> str:
    """Get a hint for a method that does not exist: that of a function with this other name, or with a similar one."""
    plain = name.lower().removeprefix("emogi_").removeprefix("pgr_")
    for function, words in OTHER_NAMES.items():
        if plain == function or plain.replace("_", "") in words.replace("_", "").split():
            return f": use {function}()"
    similar = difflib.get_close_matches(plain, FUNCTIONS, 1)
    return f": perhaps {similar[0]}()" if similar else f": the functions are {', '.join(FUNCTIONS)}"


class Graph(Functions):
    """A handle of a graph: a connection and a graph argument of the extension. It holds no edges itself.

    ``graph`` is a relation or a query, in any form described in docs/graph-argument.md: ``"follows"``, ``"roads(a, b, km)"``,
    ``"SELECT src, dst FROM follows WHERE since > now() - interval '1 week'"``. If columns are passed as arguments, it is the name of a
    relation, as written in SQL, perhaps with a condition, ``"follows WHERE since > now() - interval '1 week'"``, or a tuple,
    ``("social", "Follows")``, whose parts are quoted.

    source, target   the columns of the two ends; a sequence of names if the key has several columns
    weight           the column of weights; requires ``source`` and ``target``
    reverse_cost     the column with the cost of the reverse edge
    edge_id          the column with the name of an edge
    parameters       values of ``$1``, ``$2`` and so on in a query
    vertices         a relation or query of vertices that are in the graph even without an edge: ``emogi_with_vertices``
    direction        ``"out"``, ``"in"`` or ``"both"``: the default of all calls
    keys             the type of the vertices: ``"bigint"``, ``"text"`` or ``"uuid"``. None: it is looked up if needed
    progress         the default of all calls: True for a bar of tqdm, or a function that is called with each ``Progress``
    """

    def __init__(
        self,
        connection: psycopg.Connection[Any],
        graph: str | sql.Composable | tuple[str, ...],
        *,
        source: str | Sequence[str] | None = None,
        target: str | Sequence[str] | None = None,
        weight: str | None = None,
        reverse_cost: str | None = None,
        edge_id: str | None = None,
        parameters: Sequence[Any] | None = None,
        vertices: str | None = None,
        direction: Direction | None = None,
        keys: KeyType | None = None,
        progress: ProgressArgument = None,
    ):
        need_connection(connection)
        if parameters is not None:
            parameters = _plain(parameters)
            if not isinstance(parameters, (list, tuple)):
                raise TypeError(f"parameters must be a list of values, not {type(parameters).__name__}")
        if vertices is not None and not isinstance(vertices, str):
            raise TypeError(f"vertices must be a str, a relation or a query, not {type(vertices).__name__}")
        if keys is not None and keys not in _KEY_TYPES:
            raise ValueError(f"keys must be one of {', '.join(_KEY_TYPES)}, not {keys!r}")
        if direction not in (None, "out", "in", "both"):
            raise ValueError(f"direction must be one of out, in, both, not {direction!r}")
        self.connection = connection
        self.direction = direction
        self.progress = progress
        self._keys: str | None = keys
        self._schema: str | None = None
        self._parameters = parameters
        self._vertices = vertices
        self._text = self._argument_text(graph, source, target, weight, reverse_cost, edge_id)

    def _argument_text(self, graph: Any, source: Any, target: Any, weight: Any, reverse_cost: Any, edge_id: Any) -> str:
        if isinstance(graph, sql.Composable):
            text = graph.as_string(self.connection)
        elif isinstance(graph, str):
            text = graph
        elif isinstance(graph, tuple) and graph and all(isinstance(part, str) for part in graph):
            text = ".".join(map(_identifier, graph))
        else:
            # What has a sequence of names of its own, such as a DataFrame, would else be read as the name of some table.
            raise TypeError(
                f"graph must be a str, a relation or a query, or a tuple of the parts of a name, not {type(graph).__module__}.{type(graph).__name__}: "
                "the edges of a graph are in the database"
            )
        beside = (weight, reverse_cost, edge_id)
        if source is None and target is None:
            if beside != (None, None, None):
                raise ValueError("weight, reverse_cost and edge_id require source and target")
            return text
        if source is None or target is None:
            raise ValueError("source and target must be given together")
        if weight is None and beside != (None, None, None):
            raise ValueError("reverse_cost and edge_id require a weight")
        columns = [_identifier_list(source), _identifier_list(target)]
        columns += [_identifier(name) for name in beside if name is not None]
        if reverse_cost and not edge_id and reverse_cost != "reverse_cost":
            raise ValueError("a reverse_cost column of another name requires edge_id")
        if edge_id == "reverse_cost" and not reverse_cost:
            raise ValueError("edge_id cannot be a column reverse_cost, which is read as the cost of the reverse edge")
        return _name_columns(text, columns)

    def __repr__(self) -> str:
        return f"<emogi.Graph: {self._text}>"

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Name the method that may have been meant in the error about one that does not exist."""
            if hasattr(type(self), name):
                # A property raised AttributeError: let it raise that again.
                return object.__getattribute__(self, name)
            hint = "" if name.startswith("_") else _other_name(name)
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{hint}", name=name, obj=self)

    @property
    def schema(self) -> str:
        """The schema of the extension."""
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
        """Ask for the type of the vertices: of a query by its columns, of a relation by the first form of the functions that fits."""
        with self.connection.transaction(), self.connection.cursor(row_factory=psycopg.rows.tuple_row) as cursor:
            row = cursor.execute(sql.SQL("SELECT {}").format(self.argument)).fetchone()
        assert row is not None
        with contextlib.suppress(psycopg.errors.SyntaxError):
            # A relation, with its columns or without, is no query and so a syntax error here.
            with self.connection.transaction():
                columns = describe(self.connection, written(row[0]))
            types = dict(reversed(columns))
            return _KEYS_BY_OID.get(types.get("src", types.get("source", columns[0][1] if columns else 0)), "text")
        for kind in ("bigint", "uuid"):
            try:
                with self.connection.transaction(), self.connection.cursor() as cursor:
                    # A search from no vertex looks at the types and no further.
                    call = sql.SQL("SELECT FROM {}.emogi_bfs({}, '{{}}'::{}[])")
                    cursor.execute(call.format(sql.Identifier(self.schema), self.argument, sql.SQL(kind)))
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
        raise TypeError(f"{function} does not accept these arguments together: {', '.join(given) or 'none'}")

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
        given = {name: self._taken(function, name, value, types[name]) for name, value in given.items()}
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

    def _taken(self, function: str, name: str, value: Any, type_: str) -> Any:
        """Get an argument as it is written. An error if it is of no type that the function takes."""
        if type_.startswith("key"):
            return _key(value)
        if value is None:
            return value
        if name == "params":
            return list(value) if isinstance(value, (list, tuple)) else [value]
        if (query := _two_columns(name, value)) is not None:
            return query
        said, taken = _TAKEN[type_]
        if type_ in ("integer", "bigint"):
            value = _whole(value)
        if not taken(value):
            raise TypeError(f"{name} of {function} must be {_QUERIES.get(name, said)}, not {type(value).__name__} {value!r}")
        return value

    def _typed(self, value: Any, type_: str, kind: str) -> sql.Composable:
        """Write an argument as a literal of its SQL type."""
        if type_.startswith("key"):
            if isinstance(value, list):
                return _key_array(value, kind)
            if type_ == "key[]":
                return self._typed([value], type_, kind)
            return sql.SQL("({})::{}").format(_key_literal(value), sql.SQL(kind))
        if type_ == "any":
            # params: a list is the values of several parameters
            return sql.SQL("ROW({})").format(sql.SQL(", ").join(sql.Literal(_plain(part)) for part in value))
        if isinstance(value, sql.Composable):
            value = value.as_string(self.connection)
        return sql.SQL("({})::{}").format(sql.Literal(value), sql.SQL(type_))

    def call(self, function: str, /, **arguments: Any) -> sql.Composable:
        """Get the call of a function, for the FROM clause of SQL of your own. The names are those of the methods::

        emogi.fetch(connection, sql.SQL("SELECT level, count(*) FROM {} GROUP BY level ORDER BY level").format(g.call("bfs", source=1)))
        """
        return self._compose(function, arguments)[0]

    def _rows(self, function: str, arguments: Mapping[str, Any], select: str | Sequence[str] | None, progress: ProgressArgument) -> Result:
        """Call a function that returns rows."""
        call, form, kind = self._compose(function, arguments)
        types = {name: kind if type_ == "key" else type_ for name, type_ in form.columns}
        names = list(types) if select is None else [select] if isinstance(select, str) else list(select)
        for name in names:
            if name not in types:
                raise ValueError(f"{function} has no column {name!r}; its columns are {', '.join(types)}")
        if not names or len(set(names)) < len(names):
            raise ValueError("select must name at least one column, and no column twice")
        query = sql.SQL("SELECT {} FROM {} AS call").format(sql.SQL(", ").join(sql.Identifier("call", name) for name in names), call)
        plans = [Plan(name, types[name]) for name in names]
        return run(self.connection, query, plans, self.progress if progress is None else progress, f"emogi_{function}")

    def _record(self, function: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Call a function that returns one row."""
        call, _, _ = self._compose(function, arguments)
        with warned(self.connection), self.connection.cursor(row_factory=psycopg.rows.dict_row) as cursor:
            row = cursor.execute(sql.SQL("SELECT * FROM {}").format(call)).fetchone()
        assert row is not None
        return row

    def _value(self, function: str, arguments: Mapping[str, Any]) -> Any:
        """Call a function that returns one value."""
        call, _, _ = self._compose(function, arguments)
        with warned(self.connection), self.connection.cursor(row_factory=psycopg.rows.tuple_row) as cursor:
            row = cursor.execute(sql.SQL("SELECT {}").format(call)).fetchone()
        assert row is not None
        return row[0]
