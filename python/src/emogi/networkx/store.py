"""Graphs of networkx in tables of the server.

A node is the place that it has in the graph, from 0, so that any object may be one, and an answer in the order of vertices is in the
order of nodes. The edges of an undirected graph stand there once.
"""

from __future__ import annotations

import atexit
import contextlib
import itertools
import math
import os
import threading
import weakref
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import networkx as nx
import numpy as np
import psycopg
from psycopg import sql

from .._connection import Connection, connect
from .._graph import Graph

# Sums of whole numbers up to here are exact as float8.
EXACT = 2**53
SECONDS_TO_CONNECT = 5


@dataclass(frozen=True)
class Weights:
    """An attribute of edges that was loaded: its column, and what its values are like."""

    column: str
    whole: bool
    smallest: float
    finite: bool
    total: float

    @property
    def are_lengths(self) -> bool:
        """Can they be lengths of paths, with the sums that Python would have?"""
        return self.smallest >= 0 and self.finite and (not self.whole or self.total <= EXACT)


class Store:
    """The connection of the backend, and the tables that it made."""

    def __init__(self) -> None:
        self._numbers = itertools.count()
        self._begin()

    def _begin(self) -> None:
        self.lock = threading.RLock()
        self._connection: Connection | None = None
        self._settings: tuple[str, str] | None = None
        # The tables of the connection, and those of them whose graphs have gone.
        self._made: dict[str, sql.Composable] = {}
        self._unused: list[sql.Composable] = []
        # Tables that could not be dropped, with the connection string of their server.
        self._left: list[tuple[str, list[sql.Composable]]] = []

    def after_fork(self) -> None:
        """Begin anew in a child. The connection and the tables are those of the parent, and another thread of it may hold the lock."""
        self._of_parent = (self._connection, getattr(self, "_of_parent", None))
        self._begin()

    def connection(self) -> Connection:
        """Get the connection. Connect the first time, and when settings have changed or it was lost."""
        config = nx.config.backends.emogi
        settings = (str(config.conninfo), str(config.schema))
        if self._connection is not None and (self._connection.closed or self._settings != settings):
            self.close()
        if self._connection is None:
            self._connection = connect(settings[0], application_name="emogi networkx")
            self._settings = settings
        return self._connection

    def close(self) -> None:
        """Drop all tables, and disconnect. A graph that is used again is loaded again."""
        connection, settings = self._connection, self._settings
        tables = list(self._made.values())
        self._connection = None
        self._made.clear()
        self._unused.clear()
        if connection is not None and settings is not None:
            if tables and settings[1]:
                self._left.append((settings[0], tables))
                if not connection.closed:
                    self._drop_left(connection)
            connection.close()
        self._drop_left(None)

    def _drop_left(self, connection: Connection | None) -> None:
        """Drop what was left by the connection given, or by those that were lost, each over a new one."""
        for one in self._left[-1:] if connection is not None else list(self._left):
            with contextlib.suppress(psycopg.Error):
                with contextlib.nullcontext(connection) if connection is not None else connect(one[0], connect_timeout=SECONDS_TO_CONNECT) as used:
                    for table in one[1]:
                        used.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(table))
                self._left.remove(one)

    def forget(self, table: sql.Composable, process: int) -> None:
        """Note that a table is no longer used. It is called when a graph is collected, at any time, so it asks nothing of the server."""
        if process == os.getpid():
            self._unused.append(table)

    def drop_unused(self) -> None:
        """Drop the tables of graphs that have gone, but for those that went with their connection."""
        while self._unused and self._connection is not None:
            table = self._unused.pop()
            if self._made.pop(table.as_string(None), None) is not None:
                self._connection.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(table))

    def create(self, columns: sql.Composable) -> sql.Composable:
        """Create a table and get its name."""
        connection = self.connection()
        self.drop_unused()
        schema = str(nx.config.backends.emogi.schema)
        name = f"emogi_networkx_{connection.info.backend_pid}_{next(self._numbers)}"
        table = sql.Identifier(schema or "pg_temp", name)
        kind = "UNLOGGED" if schema else "TEMPORARY"
        said = table if schema else sql.Identifier(name)
        connection.execute(sql.SQL("CREATE {} TABLE {} ({})").format(sql.SQL(kind), said, columns))
        self._made[table.as_string(None)] = table
        return table


STORE = Store()
atexit.register(STORE.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=STORE.after_fork)


def copy_in(connection: Connection, table: sql.Composable, columns: list[np.ndarray]) -> None:
    """Load columns of int8 and float8 without NULLs, as one COPY in binary."""
    fields: list[tuple[str, str]] = [("count", ">i2")]
    for at, column in enumerate(columns):
        fields += [(f"length{at}", ">i4"), (f"value{at}", ">f8" if column.dtype.kind == "f" else ">i8")]
    rows = np.empty(len(columns[0]), np.dtype(fields))
    rows["count"] = len(columns)
    for at, column in enumerate(columns):
        rows[f"length{at}"] = 8
        rows[f"value{at}"] = column
    with connection.cursor() as cursor, cursor.copy(sql.SQL("COPY {} FROM STDIN (FORMAT binary)").format(table)) as copy:
        copy.write(b"PGCOPY\n\xff\r\n\0" + bytes(8))
        if len(rows):
            copy.write(rows.tobytes())
        copy.write(b"\xff\xff")


def read_weights(name: Any, default: Any, data: list[Mapping[Any, Any]], column: str) -> tuple[Weights, np.ndarray]:
    """Take an attribute of all edges. What is no int and no float is refused, as its sums would not be the same."""
    values = [attributes.get(name, default) for attributes in data]
    for value in values:
        if not isinstance(value, (int, float, np.integer, np.floating)):
            raise NotImplementedError(f"emogi supports only int and float attributes of edges, but {name!r} of an edge is {value!r}")
    try:
        array = np.fromiter((float(value) for value in values), np.float64, len(values))
    except OverflowError as error:
        raise NotImplementedError(f"emogi supports only numbers in the range of float8, but {name!r} of an edge is larger") from error
    whole = all(isinstance(value, (int, np.integer)) for value in values)
    smallest = float(array.min()) if len(array) else 0.0
    finite = bool(np.isfinite(array).all())
    with np.errstate(over="ignore"):
        total = float(np.abs(array).sum()) if finite else math.inf
    return Weights(column, whole, smallest, finite, total), array


class EmogiGraph:
    """A graph of networkx that stands in a table, from the first call on.

    It is loaded then and not before, as networkx would never again convert a graph that failed once, for which the server may have
    been the reason.
    """

    __networkx_backend__ = "emogi"

    def __init__(self, graph: nx.Graph, attributes: Mapping[Any, Any], keep: bool):
        self.nodes: list[Hashable] = list(graph)
        self.places: dict[Hashable, int] = {node: place for place, node in enumerate(self.nodes)}
        self.directed, self.multigraph = graph.is_directed(), graph.is_multigraph()
        self.graph = dict(graph.graph) if keep else {}
        self.attributes = dict(attributes)
        self._source = weakref.ref(graph)
        self._connection: Connection | None = None
        self._columns: list[np.ndarray] | None = self._read(graph)

    def _read(self, graph: nx.Graph) -> list[np.ndarray]:
        """Take the edges: sources, targets and weights."""
        sources, targets, data = [], [], []
        for source, target, attributes in graph.edges(data=True):
            sources.append(self.places[source])
            targets.append(self.places[target])
            data.append(attributes)
        columns = [np.array(sources, np.int64), np.array(targets, np.int64)]
        self.weights: dict[Any, Weights] = {}
        self.loops = columns[0][columns[0] == columns[1]]
        self._edges = len(sources)
        for name, default in self.attributes.items():
            self.weights[name], array = read_weights(name, default, data, f"weight{len(self.weights)}")
            columns.append(array)
        return columns

    def _load(self, connection: Connection, columns: list[np.ndarray]) -> None:
        said: list[sql.Composable] = [sql.SQL("src bigint, dst bigint")]
        said += [sql.SQL("{} float8").format(sql.Identifier(weights.column)) for weights in self.weights.values()]
        self._table = self._make(connection, sql.SQL(", ").join(said), columns)
        ends = np.zeros(len(self.nodes), "?")
        ends[columns[0]] = ends[columns[1]] = True
        alone = np.flatnonzero(~ends).astype(np.int64)
        self.alone = self._make(connection, sql.SQL("vertex bigint"), [alone]) if len(alone) else None

    def _make(self, connection: Connection, said: sql.Composable, columns: list[np.ndarray]) -> sql.Composable:
        """Create a table that goes with this graph, and load it."""
        table = STORE.create(said)
        weakref.finalize(self, STORE.forget, table, os.getpid()).atexit = True
        copy_in(connection, table, columns)
        return table

    def _stay_loaded(self) -> Connection:
        """Load the graph, the first time, or again if its tables went with a connection that was lost, or closed as settings have changed."""
        connection = STORE.connection()
        if connection is not self._connection:
            columns = self._columns
            if columns is None:
                graph = self._source()
                if graph is None or list(graph) != self.nodes or graph.number_of_edges() != self._edges:
                    raise psycopg.OperationalError(
                        "the tables of this graph were lost with their connection, and the networkx graph was changed or deleted"
                    )
                columns = self._read(graph)
            self._load(connection, columns)
            self._connection, self._columns = connection, None
        return connection

    @property
    def connection(self) -> Connection:
        """The connection that the graph is loaded over."""
        return self._stay_loaded()

    @property
    def table(self) -> sql.Composable:
        """The table of the edges."""
        self._stay_loaded()
        return self._table

    def handle(self, weight: Any = None) -> Graph:
        """Get a handle of the graph, with an attribute as weight."""
        connection = self._stay_loaded()
        columns = ["src", "dst"] + ([self.weights[weight].column] if weight is not None else [])
        text = f"{self._table.as_string(connection)}({', '.join(columns)})"
        alone = f"{self.alone.as_string(connection)}(vertex)" if self.alone is not None else None
        return Graph(connection, text, vertices=alone, direction=None if self.directed else "both", keys="bigint")

    def is_directed(self) -> bool:
        return self.directed

    def is_multigraph(self) -> bool:
        return self.multigraph

    def number_of_nodes(self) -> int:
        return len(self.nodes)

    def number_of_edges(self) -> int:
        return self._edges

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self.nodes)

    def __contains__(self, node: object) -> bool:
        try:
            return node in self.places
        except TypeError:
            return False

    def places_of(self, nodes: Iterable[Hashable]) -> list[int]:
        return [self.places[node] for node in nodes]

    def to_networkx(self) -> nx.Graph:
        """Make a graph of networkx of what is in the table: the edges, with the attributes that were loaded."""
        kind = {(False, False): nx.Graph, (True, False): nx.DiGraph, (False, True): nx.MultiGraph, (True, True): nx.MultiDiGraph}
        result = kind[self.directed, self.multigraph]()
        result.graph.update(self.graph)
        result.add_nodes_from(self.nodes)
        with STORE.lock:
            rows = self.connection.execute(sql.SQL("SELECT * FROM {} ORDER BY ctid").format(self.table)).fetchall()
        for source, target, *values in rows:
            attributes = {name: int(value) if weights.whole else value for (name, weights), value in zip(self.weights.items(), values)}
            result.add_edge(self.nodes[source], self.nodes[target], **{str(name): value for name, value in attributes.items()})
        return result
