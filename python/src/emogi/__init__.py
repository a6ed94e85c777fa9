"""Graph algorithms in PostgreSQL with the extension emogi, as numpy, pandas or Arrow.

``connect`` opens a connection, and ``Connection.graph`` or ``Graph`` makes a handle of a graph. Each method of the handle calls the
function of the extension that has its name::

    import emogi

    with emogi.connect("dbname=mydb") as db:
        follows = db.graph("follows")
        levels = follows.bfs(1, max_depth=3)
        levels["vertex"], levels["level"]       # numpy
        levels.pandas()                         # a DataFrame
        levels.arrow()                          # a pyarrow.Table
"""

from ._arguments import Direction, Key, Keys
from ._connection import Connection, connect
from ._fetch import fetch
from ._graph import Graph
from ._notices import Notice
from ._progress import Progress
from ._result import Column, Result

__all__ = ["Column", "Connection", "Direction", "Graph", "Key", "Keys", "Notice", "Progress", "Result", "connect", "fetch"]
__version__ = "0.1.0"
