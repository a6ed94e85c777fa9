"""Connections that make handles of graphs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import psycopg
from psycopg import sql

from ._arguments import Direction, KeyType
from ._fetch import ProgressArgument
from ._fetch import fetch as _fetch
from ._graph import Graph
from ._result import Result


class Connection(psycopg.Connection[Any]):
    """A connection of psycopg that also makes handles of graphs."""

    def graph(
        self,
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
    ) -> Graph:
        """Make a handle of a graph. The arguments are those of ``Graph``."""
        return Graph(
            self, graph, source=source, target=target, weight=weight, reverse_cost=reverse_cost, edge_id=edge_id, parameters=parameters,
            vertices=vertices, direction=direction, keys=keys, progress=progress,
        )

    def fetch(
        self,
        query: str | sql.Composable,
        parameters: Sequence[Any] | Mapping[str, Any] | None = None,
        *,
        progress: ProgressArgument = None,
    ) -> Result:
        """Run any SELECT and get its rows as arrays: ``emogi.fetch``."""
        return _fetch(self, query, parameters, progress=progress)


def connect(conninfo: str = "", *, autocommit: bool = True, **options: Any) -> Connection:
    """Connect to a database.

    The arguments are those of ``psycopg.connect``: a connection string, and its parts as keywords. Unless ``autocommit`` is
    False, each statement is a transaction of its own, so that each call sees the latest state of its graph.
    """
    return Connection.connect(conninfo, autocommit=autocommit, **options)
