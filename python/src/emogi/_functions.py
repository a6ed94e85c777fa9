"""A method for each function of the extension. Written by tools/generate.py from the catalogue; do not change it by hand."""

# ruff: noqa: E501
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import uuid

    import numpy as np
    from psycopg import sql

    from ._fetch import ProgressArgument
    from ._result import Result

    # A vertex: an int, a str or a UUID, by the type of the columns; a tuple where several columns are the key.
    Key = int | str | uuid.UUID | tuple[Any, ...]
    Keys = Sequence[Key] | np.ndarray
    Query = str | sql.Composable

# The forms of each function: arguments behind the graph, "!" where there is no default; columns; whether the type of the vertices is a
# part of the function's name; what it returns. "key" is the type of the vertices.
FUNCTIONS: dict[str, tuple[tuple[Any, ...], ...]] = {
    "all_shortest_paths": (
        ((("source", "key!"), ("target", "key!"), ("max_paths", "integer"), ("direction", "text")), (("path_id", "integer"), ("seq", "integer"), ("vertex", "key"), ("edge", "key"), ("cost", "double precision"), ("distance", "double precision")), False, "rows"),
    ),
    "articulation_points": (
        ((), (("vertex", "key"), ("components", "bigint")), True, "rows"),
    ),
    "betweenness": (
        ((("samples", "integer"), ("seed", "bigint"), ("normalized", "boolean"), ("direction", "text")), (("vertex", "key"), ("centrality", "double precision")), True, "rows"),
    ),
    "bfs": (
        ((("source", "key!"), ("max_depth", "integer"), ("direction", "text")), (("vertex", "key"), ("level", "integer")), False, "rows"),
    ),
    "bfs_tree": (
        ((("source", "key!"), ("max_depth", "integer"), ("direction", "text")), (("vertex", "key"), ("level", "integer"), ("predecessor", "key"), ("edge", "key"), ("source", "key")), False, "rows"),
    ),
    "biconnected": (
        ((), (("component", "bigint"), ("vertex", "key")), True, "rows"),
    ),
    "bridges": (
        ((), (("src", "key"), ("dst", "key")), True, "rows"),
    ),
    "cc": (
        ((), (("vertex", "key"), ("component", "key")), True, "rows"),
    ),
    "cdlp": (
        ((("max_iterations", "integer"), ("direction", "text")), (("vertex", "key"), ("label", "key")), True, "rows"),
    ),
    "check": (
        ((("direction", "text"), ("weights", "boolean"), ("backward", "boolean"), ("with_overlay", "boolean")), (("ok", "boolean"), ("differs", "text"), ("cache", "text"), ("vertices", "bigint"), ("edges", "bigint"), ("has_weights", "boolean"), ("has_backward", "boolean")), False, "record"),
    ),
    "circuit": (
        ((("start", "text!"), ("max_iterations", "integer"), ("tolerance", "double precision"), ("direction", "text")), (("vertex", "key"), ("value", "double precision")), True, "rows"),
    ),
    "closeness": (
        ((("samples", "integer"), ("seed", "bigint"), ("direction", "text")), (("vertex", "key"), ("reached", "bigint"), ("farness", "double precision"), ("closeness", "double precision"), ("harmonic", "double precision")), True, "rows"),
    ),
    "core": (
        ((), (("vertex", "key"), ("core", "integer")), True, "rows"),
    ),
    "cycles": (
        ((("source", "key!"), ("max_length", "integer"), ("max_cycles", "integer"), ("direction", "text")), (("cycle_id", "integer"), ("seq", "integer"), ("vertex", "key"), ("edge", "key"), ("cost", "double precision"), ("distance", "double precision")), False, "rows"),
    ),
    "degree": (
        ((("direction", "text"),), (("vertex", "key"), ("degree", "bigint"), ("strength", "double precision")), True, "rows"),
    ),
    "distance_matrix": (
        ((("sources", "key[]!"), ("targets", "key[]!"), ("direction", "text")), (("source", "key"), ("target", "key"), ("distance", "double precision")), False, "rows"),
    ),
    "eigenvector": (
        ((("max_iterations", "integer"), ("tolerance", "double precision"), ("weights", "boolean"), ("direction", "text")), (("vertex", "key"), ("centrality", "double precision")), True, "rows"),
    ),
    "estimate": (
        ((("weights", "boolean"), ("direction", "text")), (("edges", "bigint"), ("vertices", "bigint"), ("graph_bytes", "bigint"), ("peak_bytes", "bigint"), ("allowed_bytes", "bigint"), ("fits", "boolean")), False, "record"),
    ),
    "evict": (
        ((), (), False, "bigint"),
    ),
    "heat": (
        ((("start", "text!"), ("max_iterations", "integer"), ("tolerance", "double precision"), ("direction", "text")), (("vertex", "key"), ("value", "double precision")), True, "rows"),
    ),
    "hits": (
        ((("max_iterations", "integer"), ("tolerance", "double precision"), ("weights", "boolean"), ("direction", "text")), (("vertex", "key"), ("hub", "double precision"), ("authority", "double precision")), True, "rows"),
    ),
    "k_shortest_paths": (
        ((("source", "key!"), ("target", "key!"), ("k", "integer"), ("direction", "text")), (("path_id", "integer"), ("seq", "integer"), ("vertex", "key"), ("edge", "key"), ("cost", "double precision"), ("distance", "double precision")), False, "rows"),
    ),
    "katz": (
        ((("alpha", "double precision"), ("beta", "double precision"), ("max_iterations", "integer"), ("tolerance", "double precision"), ("normalized", "boolean"), ("weights", "boolean"), ("direction", "text")), (("vertex", "key"), ("centrality", "double precision")), True, "rows"),
    ),
    "lcc": (
        ((("direction", "text"),), (("vertex", "key"), ("coefficient", "double precision")), True, "rows"),
    ),
    "leiden": (
        ((("resolution", "double precision"), ("theta", "double precision"), ("max_cluster_size", "integer"), ("max_levels", "integer"), ("seed", "bigint")), (("vertex", "key"), ("level", "integer"), ("community", "key"), ("parent", "key")), True, "rows"),
    ),
    "longest_path": (
        ((), (("vertex", "key"), ("distance", "double precision")), True, "rows"),
    ),
    "louvain": (
        ((("resolution", "double precision"), ("max_levels", "integer"), ("tolerance", "double precision"), ("seed", "bigint")), (("vertex", "key"), ("level", "integer"), ("community", "key"), ("parent", "key")), True, "rows"),
    ),
    "modularity": (
        ((("communities", "text!"), ("resolution", "double precision")), (), False, "double precision"),
    ),
    "neural": (
        ((("start", "text!"), ("max_iterations", "integer"), ("tolerance", "double precision"), ("direction", "text")), (("vertex", "key"), ("value", "double precision")), True, "rows"),
    ),
    "pagerank": (
        ((("damping", "double precision"), ("max_iterations", "integer"), ("tolerance", "double precision"), ("start", "text"), ("direction", "text"), ("weights", "boolean")), (("vertex", "key"), ("rank", "double precision")), True, "rows"),
    ),
    "prewarm": (
        ((("direction", "text"), ("weights", "boolean"), ("backward", "boolean"), ("keep", "boolean")), (("cache", "text"), ("vertices", "bigint"), ("edges", "bigint"), ("bytes", "bigint"), ("kept", "boolean")), False, "record"),
    ),
    "random_walk": (
        ((("source", "key!"), ("length", "integer"), ("walks", "integer"), ("p", "double precision"), ("q", "double precision"), ("seed", "bigint"), ("direction", "text"), ("weights", "boolean")), (("walk", "bigint"), ("step", "integer"), ("vertex", "key")), False, "rows"),
    ),
    "reachable": (
        ((("pairs", "text!"), ("direction", "text")), (("source", "key"), ("target", "key"), ("reachable", "boolean")), True, "rows"),
    ),
    "scc": (
        ((), (("vertex", "key"), ("component", "key")), True, "rows"),
    ),
    "shortest_path": (
        ((("source", "key!"), ("target", "key!"), ("direction", "text")), (("seq", "integer"), ("vertex", "key"), ("edge", "key"), ("cost", "double precision"), ("distance", "double precision")), False, "rows"),
    ),
    "shortest_path_tree": (
        ((("source", "key!"), ("max_distance", "double precision"), ("direction", "text")), (("vertex", "key"), ("distance", "double precision"), ("predecessor", "key"), ("edge", "key"), ("source", "key")), False, "rows"),
    ),
    "shortest_paths": (
        ((("sources", "key[]!"), ("targets", "key[]!"), ("direction", "text")), (("source", "key"), ("target", "key"), ("seq", "integer"), ("vertex", "key"), ("edge", "key"), ("cost", "double precision"), ("distance", "double precision")), False, "rows"),
        ((("pairs", "text!"), ("direction", "text")), (("source", "key"), ("target", "key"), ("seq", "integer"), ("vertex", "key"), ("edge", "key"), ("cost", "double precision"), ("distance", "double precision")), True, "rows"),
    ),
    "similarity": (
        ((("measure", "text"), ("top_k", "integer"), ("cutoff", "double precision"), ("pairs", "text"), ("direction", "text")), (("vertex1", "key"), ("vertex2", "key"), ("similarity", "double precision")), True, "rows"),
    ),
    "spanning_forest": (
        ((("maximum", "boolean"),), (("src", "key"), ("dst", "key"), ("weight", "double precision")), True, "rows"),
    ),
    "ssnsp": (
        ((("source", "key!"), ("max_depth", "integer"), ("direction", "text")), (("vertex", "key"), ("level", "integer"), ("paths", "double precision")), False, "rows"),
    ),
    "sssp": (
        ((("source", "key!"), ("max_distance", "double precision"), ("direction", "text")), (("vertex", "key"), ("distance", "double precision")), False, "rows"),
    ),
    "sswp": (
        ((("source", "key!"), ("direction", "text")), (("vertex", "key"), ("width", "double precision")), False, "rows"),
    ),
    "topological_order": (
        ((), (("vertex", "key"), ("level", "integer"), ("position", "bigint")), True, "rows"),
    ),
    "triangle_count": (
        ((), (), False, "bigint"),
    ),
    "triangles": (
        ((), (("vertex", "key"), ("triangles", "bigint")), True, "rows"),
    ),
}


class Functions:
    """The functions of the extension as methods. The arguments have the names, the order and the defaults of SQL."""

    def _rows(self, function: str, arguments: Mapping[str, Any], select: str | Sequence[str] | None, progress: ProgressArgument) -> Result:
        raise NotImplementedError

    def _record(self, function: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        raise NotImplementedError

    def _value(self, function: str, arguments: Mapping[str, Any]) -> Any:
        raise NotImplementedError

    def all_shortest_paths(self, source: Key | None, target: Key | None, max_paths: int | None = 1000, direction: str | None = None, *, select: str | Sequence[str] | None = None, progress: ProgressArgument = None) -> Result:
        """The vertices of all paths of the least distance, from source to target.

        Columns: path_id integer, seq integer, vertex of the type of the vertices, edge of the type of the vertices, cost double precision, distance double precision.
        ``direction`` is that of the graph handle, or else 'out'.
        ``select`` names the columns that are wanted.

        SQL: ``emogi_all_shortest_paths``
        """
        return self._rows("all_shortest_paths", {"source": source, "target": target, "max_paths": max_paths, "direction": direction}, select, progress)

    def articulation_points(self, *, select: str | Sequence[str] | None = None, progress: ProgressArgument = None) -> Result:
        """Vertices whose removal leaves more connected components.

        Columns: vertex of the type of the vertices, components bigint.
        ``select`` names the columns that are wanted.

        SQL: ``emogi_articulation_points``
        """
        return self._rows("articulation_points", {}, select, progress)

    def betweenness(self, samples: int | None = None, seed: int | None = 0, normalized: bool | None = True, direction: str | None = None, *, select: str | Sequence[str] | None = None, progress: ProgressArgument = None) -> Result:
        """Betweenness: the share of shortest paths that pass through each vertex.

        Columns: vertex of the type of the vertices, centrality double precision.
        ``direction`` is that of the graph handle, or else 'out'.
        ``select`` names the columns that are wanted.

        SQL: ``emogi_betweenness``
        """
        return self._rows("betweenness", {"samples": samples, "seed": seed, "normalized": normalized, "direction": direction}, select, progress)

    def bfs(self, source: Key | Keys | None, max_depth: int | None = None, direction: str | None = None, *, select: str | Sequence[str] | None = None, progress: ProgressArgument = None) -> Result:
        """Vertices reached, with the fewest hops to each.

        Columns: vertex of the type of the vertices, level integer.
        ``direction`` is that of the graph handle, or else 'out'.
        ``select`` names the columns that are wanted.

        SQL: ``emogi_bfs``
        """
        return self._rows("bfs", {"source": source, "max_depth": max_depth, "direction": direction}, select, progress)

    def bfs_tree(self, source: Key | Keys | None, max_depth: int | None = None, direction: str | None = None, *, select: str | Sequence[str] | None = None, progress: ProgressArgument = None) -> Result:
        """Vertices reached, with the fewest hops to each and the vertex before on such a path.

        Columns: vertex of the type of the vertices, level integer, predecessor of the type of the vertices, edge of the type of the vertices, source of the type of the vertices.
        ``direction`` is that of the graph handle, or else 'out'.
        ``select`` names the columns that are wanted.

        SQL: ``emogi_bfs_tree``
        """
        return self._rows("bfs_tree", {"source": source, "max_depth": max_depth, "direction": direction}, select, progress)

    def biconnected(self, *, select: str | Sequence[str] | None = None, progress: ProgressArgument = None) -> Result:
        """Biconnected components with their vertices.

        Columns: component bigint, vertex of the type of the vertices.
        ``select`` names the columns that are wanted.

        SQL: ``emogi_biconnected``
        """
        return self._rows("biconnected", {}, select, progress)

    def bridges(self, *, select: str | Sequence[str] | None = None, progress: ProgressArgument = None) -> Result:
        """Edges whose removal leaves more connected components.

        Columns: src of the type of the vertices, dst of the type of the vertices.
        ``select`` names the columns that are wanted.

        SQL: ``emogi_bridges``
        """
        return self._rows("bridges", {}, select, progress)

    def cc(self, *, select: str | Sequence[str] | None = None, progress: ProgressArgument = None) -> Result:
        """Weakly connected components, each named by its smallest vertex.

        Columns: vertex of the type of the vertices, component of the type of the vertices.
        ``select`` names the columns that are wanted.

        SQL: ``emogi_cc``
        """
        return self._rows("cc", {}, select, progress)

    def cdlp(self, max_iterations: int | None = 10, direction: str | None = None, *, select: str | Sequence[str] | None = None, progress: ProgressArgument = None) -> Result:
        """Communities by label propagation, each named by one of its vertices.

        Columns: vertex of the type of the vertices, label of the type of the vertices.
        ``direction`` is that of the graph handle, or else 'both'.
        ``select`` names the columns that are wanted.

        SQL: ``emogi_cdlp``
        """
        return self._rows("cdlp", {"max_iterations": max_iterations, "direction": direction}, select, progress)

    def check(self, direction: str | None = None, weights: bool | None = False, backward: bool | None = False, with_overlay: bool | None = False) -> dict[str, Any]:
        """Whether the graph that a call would use is what its source holds: it is built again and compared.

        A dict: ok boolean, differs text, cache text, vertices bigint, edges bigint, has_weights boolean, has_backward boolean.
        ``direction`` is that of the graph handle, or else 'out'.

        SQL: ``emogi_check``
        """
        return self._record("check", {"direction": direction, "weights": weights, "backward": backward, "with_overlay": with_overlay})

    def circuit(self, start: Query | Mapping[Any, float], max_iterations: int | None = 1000, tolerance: float | None = 0.000001, direction: str | None = None, *, select: str | Sequence[str] | None = None, progress: ProgressArgument = None) -> Result:
        """Voltages in a network of conductances with fixed poles.

        Columns: vertex of the type of the vertices, value double precision.
        ``direction`` is that of the graph handle, or else 'both'.
        ``select`` names the columns that are wanted.

        SQL: ``emogi_circuit``
        """
        return self._rows("circuit", {"start": start, "max_iterations": max_iterations, "tolerance": tolerance, "direction": direction}, select, progress)

    def closeness(self, samples: int | None = None, seed: int | None = 0, direction: str | None = None, *, select: str | Sequence[str] | None = None, progress: ProgressArgument = None) -> Result:
        """Closeness: how near each vertex is to those that it reaches.

        Columns: vertex of the type of the vertices, reached bigint, farness double precision, closeness double precision, harmonic double precision.
        ``direction`` is that of the graph handle, or else 'out'.
        ``select`` names the columns that are wanted.

        SQL: ``emogi_closeness``
        """
        return self._rows("closeness", {"samples": samples, "seed": seed, "direction": direction}, select, progress)

    def core(self, *, select: str | Sequence[str] | None = None, progress: ProgressArgument = None) -> Result:
        """Core numbers of the simple undirected graph.

        Columns: vertex of the type of the vertices, core integer.
        ``select`` names the columns that are wanted.

        SQL: ``emogi_core``
        """
        return self._rows("core", {}, select, progress)

    def cycles(self, source: Key | None, max_length: int | None = 6, max_cycles: int | None = 1000, direction: str | None = None, *, select: str | Sequence[str] | None = None, progress: ProgressArgument = None) -> Result:
        """The vertices of the simple cycles through a vertex, the shortest first.

        Columns: cycle_id integer, seq integer, vertex of the type of the vertices, edge of the type of the vertices, cost double precision, distance double precision.
        ``direction`` is that of the graph handle, or else 'out'.
        ``select`` names the columns that are wanted.

        SQL: ``emogi_cycles``
        """
        return self._rows("cycles", {"source": source, "max_length": max_length, "max_cycles": max_cycles, "direction": direction}, select, progress)

    def degree(self, direction: str | None = None, *, select: str | Sequence[str] | None = None, progress: ProgressArgument = None) -> Result:
        """The number of edges of each vertex, and the sum of their weights.

        Columns: vertex of the type of the vertices, degree bigint, strength double precision.
        ``direction`` is that of the graph handle, or else 'out'.
        ``select`` names the columns that are wanted.

        SQL: ``emogi_degree``
        """
        return self._rows("degree", {"direction": direction}, select, progress)

    def distance_matrix(self, sources: Keys, targets: Keys, direction: str | None = None, *, select: str | Sequence[str] | None = None, progress: ProgressArgument = None) -> Result:
        """The lengths of shortest paths from each source to each target.

        Columns: source of the type of the vertices, target of the type of the vertices, distance double precision.
        ``direction`` is that of the graph handle, or else 'out'.
        ``select`` names the columns that are wanted.

        SQL: ``emogi_distance_matrix``
        """
        return self._rows("distance_matrix", {"sources": sources, "targets": targets, "direction": direction}, select, progress)

    def eigenvector(self, max_iterations: int | None = 100, tolerance: float | None = 0.000001, weights: bool | None = False, direction: str | None = None, *, select: str | Sequence[str] | None = None, progress: ProgressArgument = None) -> Result:
        """Eigenvector centrality: a vertex counts as much as those that point to it together.

        Columns: vertex of the type of the vertices, centrality double precision.
        ``direction`` is that of the graph handle, or else 'out'.
        ``select`` names the columns that are wanted.

        SQL: ``emogi_eigenvector``
        """
        return self._rows("eigenvector", {"max_iterations": max_iterations, "tolerance": tolerance, "weights": weights, "direction": direction}, select, progress)

    def estimate(self, weights: bool | None = False, direction: str | None = None) -> dict[str, Any]:
        """Size of a graph in shared memory (bytes), after its build and at the peak of it, estimated from statistics.

        A dict: edges bigint, vertices bigint, graph_bytes bigint, peak_bytes bigint, allowed_bytes bigint, fits boolean.
        ``direction`` is that of the graph handle, or else 'out'.

        SQL: ``emogi_estimate``
        """
        return self._record("estimate", {"weights": weights, "direction": direction})

    def evict(self) -> int:
        """Drop the cached graphs of a table, view or query, or of all that are the caller's in this database; bytes given back.

        SQL: ``emogi_evict``
        """
        return self._value("evict", {})

    def heat(self, start: Query | Mapping[Any, float], max_iterations: int | None = 1000, tolerance: float | None = 0.000001, direction: str | None = None, *, select: str | Sequence[str] | None = None, progress: ProgressArgument = None) -> Result:
        """Temperatures after heat has flowed along the edges.

        Columns: vertex of the type of the vertices, value double precision.
        ``direction`` is that of the graph handle, or else 'both'.
        ``select`` names the columns that are wanted.

        SQL: ``emogi_heat``
        """
        return self._rows("heat", {"start": start, "max_iterations": max_iterations, "tolerance": tolerance, "direction": direction}, select, progress)

    def hits(self, max_iterations: int | None = 100, tolerance: float | None = 0.00000001, weights: bool | None = False, direction: str | None = None, *, select: str | Sequence[str] | None = None, progress: ProgressArgument = None) -> Result:
        """Hubs and authorities (HITS); each sum to 1.

        Columns: vertex of the type of the vertices, hub double precision, authority double precision.
        ``direction`` is that of the graph handle, or else 'out'.
        ``select`` names the columns that are wanted.

        SQL: ``emogi_hits``
        """
        return self._rows("hits", {"max_iterations": max_iterations, "tolerance": tolerance, "weights": weights, "direction": direction}, select, progress)

    def k_shortest_paths(self, source: Key | None, target: Key | None, k: int | None = 3, direction: str | None = None, *, select: str | Sequence[str] | None = None, progress: ProgressArgument = None) -> Result:
        """The vertices of the k shortest paths without a repeated vertex, from source to target.

        Columns: path_id integer, seq integer, vertex of the type of the vertices, edge of the type of the vertices, cost double precision, distance double precision.
        ``direction`` is that of the graph handle, or else 'out'.
        ``select`` names the columns that are wanted.

        SQL: ``emogi_k_shortest_paths``
        """
        return self._rows("k_shortest_paths", {"source": source, "target": target, "k": k, "direction": direction}, select, progress)

    def katz(self, alpha: float | None = 0.1, beta: float | None = 1, max_iterations: int | None = 1000, tolerance: float | None = 0.000001, normalized: bool | None = True, weights: bool | None = False, direction: str | None = None, *, select: str | Sequence[str] | None = None, progress: ProgressArgument = None) -> Result:
        """Katz centrality: walks that end at each vertex, the longer the less.

        Columns: vertex of the type of the vertices, centrality double precision.
        ``direction`` is that of the graph handle, or else 'out'.
        ``select`` names the columns that are wanted.

        SQL: ``emogi_katz``
        """
        return self._rows("katz", {"alpha": alpha, "beta": beta, "max_iterations": max_iterations, "tolerance": tolerance, "normalized": normalized, "weights": weights, "direction": direction}, select, progress)

    def lcc(self, direction: str | None = None, *, select: str | Sequence[str] | None = None, progress: ProgressArgument = None) -> Result:
        """Local clustering coefficients.

        Columns: vertex of the type of the vertices, coefficient double precision.
        ``direction`` is that of the graph handle, or else 'both'.
        ``select`` names the columns that are wanted.

        SQL: ``emogi_lcc``
        """
        return self._rows("lcc", {"direction": direction}, select, progress)

    def leiden(self, resolution: float | None = 1, theta: float | None = 0.01, max_cluster_size: int | None = None, max_levels: int | None = None, seed: int | None = 0, *, select: str | Sequence[str] | None = None, progress: ProgressArgument = None) -> Result:
        """Communities by modularity, connected, by Leiden, a row for each vertex and level.

        Columns: vertex of the type of the vertices, level integer, community of the type of the vertices, parent of the type of the vertices.
        ``select`` names the columns that are wanted.

        SQL: ``emogi_leiden``
        """
        return self._rows("leiden", {"resolution": resolution, "theta": theta, "max_cluster_size": max_cluster_size, "max_levels": max_levels, "seed": seed}, select, progress)

    def longest_path(self, *, select: str | Sequence[str] | None = None, progress: ProgressArgument = None) -> Result:
        """The longest path to each vertex of a graph without a cycle, by weight.

        Columns: vertex of the type of the vertices, distance double precision.
        ``select`` names the columns that are wanted.

        SQL: ``emogi_longest_path``
        """
        return self._rows("longest_path", {}, select, progress)

    def louvain(self, resolution: float | None = 1, max_levels: int | None = None, tolerance: float | None = 0.0000001, seed: int | None = 0, *, select: str | Sequence[str] | None = None, progress: ProgressArgument = None) -> Result:
        """Communities by modularity, by Louvain, a row for each vertex and level.

        Columns: vertex of the type of the vertices, level integer, community of the type of the vertices, parent of the type of the vertices.
        ``select`` names the columns that are wanted.

        SQL: ``emogi_louvain``
        """
        return self._rows("louvain", {"resolution": resolution, "max_levels": max_levels, "tolerance": tolerance, "seed": seed}, select, progress)

    def modularity(self, communities: Query | Mapping[Any, Any], resolution: float | None = 1) -> float | None:
        """The modularity of communities that a query returns.

        SQL: ``emogi_modularity``
        """
        return self._value("modularity", {"communities": communities, "resolution": resolution})

    def neural(self, start: Query | Mapping[Any, float], max_iterations: int | None = 1000, tolerance: float | None = 0.000001, direction: str | None = None, *, select: str | Sequence[str] | None = None, progress: ProgressArgument = None) -> Result:
        """Activations of a recurrent network of tanh neurons.

        Columns: vertex of the type of the vertices, value double precision.
        ``direction`` is that of the graph handle, or else 'out'.
        ``select`` names the columns that are wanted.

        SQL: ``emogi_neural``
        """
        return self._rows("neural", {"start": start, "max_iterations": max_iterations, "tolerance": tolerance, "direction": direction}, select, progress)

    def pagerank(self, damping: float | None = 0.85, max_iterations: int | None = 100, tolerance: float | None = 0.000001, start: Query | Mapping[Any, float] | None = None, direction: str | None = None, weights: bool | None = False, *, select: str | Sequence[str] | None = None, progress: ProgressArgument = None) -> Result:
        """PageRank; the ranks sum to 1.

        Columns: vertex of the type of the vertices, rank double precision.
        ``direction`` is that of the graph handle, or else 'out'.
        ``select`` names the columns that are wanted.

        SQL: ``emogi_pagerank``
        """
        return self._rows("pagerank", {"damping": damping, "max_iterations": max_iterations, "tolerance": tolerance, "start": start, "direction": direction, "weights": weights}, select, progress)

    def prewarm(self, direction: str | None = None, weights: bool | None = False, backward: bool | None = False, keep: bool | None = None) -> dict[str, Any]:
        """Have the graph of a table stand in the cache, for all sessions; keep: do not evict it to make room.

        A dict: cache text, vertices bigint, edges bigint, bytes bigint, kept boolean.
        ``direction`` is that of the graph handle, or else 'out'.

        SQL: ``emogi_prewarm``
        """
        return self._record("prewarm", {"direction": direction, "weights": weights, "backward": backward, "keep": keep})

    def random_walk(self, source: Key | Keys | None, length: int | None = 80, walks: int | None = 1, p: float | None = 1, q: float | None = 1, seed: int | None = 0, direction: str | None = None, weights: bool | None = False, *, select: str | Sequence[str] | None = None, progress: ProgressArgument = None) -> Result:
        """Random walks from each source, of node2vec with p and q.

        Columns: walk bigint, step integer, vertex of the type of the vertices.
        ``direction`` is that of the graph handle, or else 'out'.
        ``select`` names the columns that are wanted.

        SQL: ``emogi_random_walk``
        """
        return self._rows("random_walk", {"source": source, "length": length, "walks": walks, "p": p, "q": q, "seed": seed, "direction": direction, "weights": weights}, select, progress)

    def reachable(self, pairs: Query | Sequence[tuple[Key, Key]], direction: str | None = None, *, select: str | Sequence[str] | None = None, progress: ProgressArgument = None) -> Result:
        """Whether a way leads from the one to the other, for each pair of a query.

        Columns: source of the type of the vertices, target of the type of the vertices, reachable boolean.
        ``direction`` is that of the graph handle, or else 'out'.
        ``select`` names the columns that are wanted.

        SQL: ``emogi_reachable``
        """
        return self._rows("reachable", {"pairs": pairs, "direction": direction}, select, progress)

    def scc(self, *, select: str | Sequence[str] | None = None, progress: ProgressArgument = None) -> Result:
        """Strongly connected components, each named by its smallest vertex.

        Columns: vertex of the type of the vertices, component of the type of the vertices.
        ``select`` names the columns that are wanted.

        SQL: ``emogi_scc``
        """
        return self._rows("scc", {}, select, progress)

    def shortest_path(self, source: Key | None, target: Key | None, direction: str | None = None, *, select: str | Sequence[str] | None = None, progress: ProgressArgument = None) -> Result:
        """The vertices of one shortest path, from source to target.

        Columns: seq integer, vertex of the type of the vertices, edge of the type of the vertices, cost double precision, distance double precision.
        ``direction`` is that of the graph handle, or else 'out'.
        ``select`` names the columns that are wanted.

        SQL: ``emogi_shortest_path``
        """
        return self._rows("shortest_path", {"source": source, "target": target, "direction": direction}, select, progress)

    def shortest_path_tree(self, source: Key | Keys | None, max_distance: float | None = None, direction: str | None = None, *, select: str | Sequence[str] | None = None, progress: ProgressArgument = None) -> Result:
        """Vertices reached, with the least sum of weights to each and the vertex before on such a path.

        Columns: vertex of the type of the vertices, distance double precision, predecessor of the type of the vertices, edge of the type of the vertices, source of the type of the vertices.
        ``direction`` is that of the graph handle, or else 'out'.
        ``select`` names the columns that are wanted.

        SQL: ``emogi_shortest_path_tree``
        """
        return self._rows("shortest_path_tree", {"source": source, "max_distance": max_distance, "direction": direction}, select, progress)

    def shortest_paths(self, sources: Keys | None = None, targets: Keys | None = None, pairs: Query | Sequence[tuple[Key, Key]] | None = None, direction: str | None = None, *, select: str | Sequence[str] | None = None, progress: ProgressArgument = None) -> Result:
        """The vertices of one shortest path from each source to each target.

        Columns: source of the type of the vertices, target of the type of the vertices, seq integer, vertex of the type of the vertices, edge of the type of the vertices, cost double precision, distance double precision.
        ``direction`` is that of the graph handle, or else 'out'.
        ``select`` names the columns that are wanted.

        SQL: ``emogi_shortest_paths``
        """
        return self._rows("shortest_paths", {"sources": sources, "targets": targets, "pairs": pairs, "direction": direction}, select, progress)

    def similarity(self, measure: str | None = "jaccard", top_k: int | None = 10, cutoff: float | None = 0, pairs: Query | Sequence[tuple[Key, Key]] | None = None, direction: str | None = None, *, select: str | Sequence[str] | None = None, progress: ProgressArgument = None) -> Result:
        """How alike the neighbours of vertices are, of the most alike or of given pairs.

        Columns: vertex1 of the type of the vertices, vertex2 of the type of the vertices, similarity double precision.
        ``direction`` is that of the graph handle, or else 'out'.
        ``select`` names the columns that are wanted.

        SQL: ``emogi_similarity``
        """
        return self._rows("similarity", {"measure": measure, "top_k": top_k, "cutoff": cutoff, "pairs": pairs, "direction": direction}, select, progress)

    def spanning_forest(self, maximum: bool | None = False, *, select: str | Sequence[str] | None = None, progress: ProgressArgument = None) -> Result:
        """A minimum or maximum spanning forest, a row for each edge.

        Columns: src of the type of the vertices, dst of the type of the vertices, weight double precision.
        ``select`` names the columns that are wanted.

        SQL: ``emogi_spanning_forest``
        """
        return self._rows("spanning_forest", {"maximum": maximum}, select, progress)

    def ssnsp(self, source: Key | Keys | None, max_depth: int | None = None, direction: str | None = None, *, select: str | Sequence[str] | None = None, progress: ProgressArgument = None) -> Result:
        """Vertices reached, with the number of shortest paths (by hops) to each.

        Columns: vertex of the type of the vertices, level integer, paths double precision.
        ``direction`` is that of the graph handle, or else 'out'.
        ``select`` names the columns that are wanted.

        SQL: ``emogi_ssnsp``
        """
        return self._rows("ssnsp", {"source": source, "max_depth": max_depth, "direction": direction}, select, progress)

    def sssp(self, source: Key | Keys | None, max_distance: float | None = None, direction: str | None = None, *, select: str | Sequence[str] | None = None, progress: ProgressArgument = None) -> Result:
        """Vertices reached, with the least sum of weights to each.

        Columns: vertex of the type of the vertices, distance double precision.
        ``direction`` is that of the graph handle, or else 'out'.
        ``select`` names the columns that are wanted.

        SQL: ``emogi_sssp``
        """
        return self._rows("sssp", {"source": source, "max_distance": max_distance, "direction": direction}, select, progress)

    def sswp(self, source: Key | Keys | None, direction: str | None = None, *, select: str | Sequence[str] | None = None, progress: ProgressArgument = None) -> Result:
        """Vertices reached, with the width of the widest path to each.

        Columns: vertex of the type of the vertices, width double precision.
        ``direction`` is that of the graph handle, or else 'out'.
        ``select`` names the columns that are wanted.

        SQL: ``emogi_sswp``
        """
        return self._rows("sswp", {"source": source, "direction": direction}, select, progress)

    def topological_order(self, *, select: str | Sequence[str] | None = None, progress: ProgressArgument = None) -> Result:
        """Vertices of a graph without a cycle in an order in which all edges lead forward.

        Columns: vertex of the type of the vertices, level integer, position bigint.
        ``select`` names the columns that are wanted.

        SQL: ``emogi_topological_order``
        """
        return self._rows("topological_order", {}, select, progress)

    def triangle_count(self) -> int:
        """The number of triangles of the simple undirected graph.

        SQL: ``emogi_triangle_count``
        """
        return self._value("triangle_count", {})

    def triangles(self, *, select: str | Sequence[str] | None = None, progress: ProgressArgument = None) -> Result:
        """The number of triangles that each vertex is in, of the simple undirected graph.

        Columns: vertex of the type of the vertices, triangles bigint.
        ``select`` names the columns that are wanted.

        SQL: ``emogi_triangles``
        """
        return self._rows("triangles", {}, select, progress)
