"""Connections that know graphs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import psycopg
from psycopg import sql

from ._fetch import ProgressArgument
from ._fetch import fetch as _fetch
from ._graph import Graph
from ._result import Result


class Connection(psycopg.Connection[Any]):
    """A connection of psycopg that makes handles of graphs as well."""

    def graph(self, graph: str | sql.Composable | tuple[str, ...], **options: Any) -> Graph:
        """Make a handle of a graph. The arguments are those of ``Graph``."""
        return Graph(self, graph, **options)

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

    The arguments are those of ``psycopg.connect``: a connection string, and its parts by name. Each statement is a transaction of
    its own, as a graph that has changed meanwhile is else not seen, unless ``autocommit`` is False.
    """
    return Connection.connect(conninfo, autocommit=autocommit, **options)
