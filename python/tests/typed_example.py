"""A program as a user writes it, with all its types: test_types.py has mypy check it, and runs it."""

from __future__ import annotations

import emogi


def levels(db: emogi.Connection, table: str, source: int) -> dict[int, int]:
    """Get the number of steps from a vertex to each vertex that it reaches."""
    follows: emogi.Graph = db.graph(table)
    result: emogi.Result = follows.bfs(source, max_depth=3, direction="both")
    return dict(zip(result["vertex"].tolist(), result["level"].tolist(), strict=True))


def main() -> None:
    with emogi.connect() as db:
        reached = levels(db, "follows", 1)
        version: str = emogi.__version__
        print(version, sorted(reached.items()))


if __name__ == "__main__":
    main()
