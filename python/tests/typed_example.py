"""A program as a user writes it, with all its types: test_types.py has mypy check it, and runs it."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import numpy as np

import emogi

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


def levels(db: emogi.Connection, table: str, source: int, direction: emogi.Direction = "both") -> dict[int, int]:
    """Get the number of steps from a vertex to each vertex that it reaches."""
    follows: emogi.Graph = db.graph(table)
    result: emogi.Result = follows.bfs(source, max_depth=3, direction=direction)
    return dict(zip(result["vertex"].tolist(), result["level"].tolist(), strict=True))


def every_kind_of_source(g: emogi.Graph, series: pl.Series, column: pd.Series[int], array: np.ndarray[Any, Any], keys: emogi.Keys) -> None:
    """Call with all that may be vertices."""
    for source in (series, column, array, keys):
        g.bfs(source)
        g.max_flow(source, [1])
        g.distance_matrix(source, source)
    g.bfs([1, 2])
    g.bfs({1, 2})
    g.bfs(range(3))
    g.bfs("a")
    g.bfs(["a", "b"])
    g.bfs(uuid.uuid4())
    g.bfs(("x", 1))
    g.bfs(np.int64(1))
    g.shortest_path(1, np.int64(2))
    g.shortest_path(None, "b")
    g.reachable([(1, 2), (3, 4)])
    g.reachable(np.array([[1, 2]]))
    g.reachable("VALUES (1, 2)")
    g.heat({1: 1.0}, direction="in")
    g.pagerank(start={1: 1}, damping=0.9, select="rank")


def documented(db: emogi.Connection) -> tuple[float | None, int, dict[str, Any]]:
    """Call as the manual does."""
    roads = db.graph("roads", source="a", target="b", weight="km", edge_id="id", direction="both", keys="bigint")
    result = roads.sssp(1, select=["vertex", "distance"], progress=True)
    for row in result:
        print(row)
    print(result.pandas(), result.polars(), result.arrow(), result.numpy(), result.columns["vertex"].type, len(result))
    db.graph("SELECT a, b FROM t WHERE kind = $1", parameters=["knows"]).call("bfs", source=1)
    emogi.fetch(db, "SELECT %s", [1])
    return roads.max_flow(1, 2), roads.triangle_count(), roads.estimate()


def main() -> None:
    with emogi.connect() as db:
        reached = levels(db, "follows", 1)
        version: str = emogi.__version__
        print(version, sorted(reached.items()))


if __name__ == "__main__":
    main()
