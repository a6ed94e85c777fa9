"""The functions of networkx that emogi answers with the same parameters and results.

Each has the signature of networkx. What a function cannot serve is told by ``_only``, before a graph is loaded, or raises
NotImplementedError, when it shows in the graph; networkx then goes to another backend or tells the user.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Iterator
from typing import Any

import networkx as nx
import numpy as np
from psycopg import sql

from .._fetch import fetch
from .._graph import Graph
from .store import STORE, EmogiGraph

# Sources of one query where all pairs are asked for.
SOURCES_AT_ONCE = 256

_RULES: dict[str, Callable[[dict[str, Any]], bool | str]] = {}


def _only(rule: Callable[[dict[str, Any]], bool | str]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Say for which arguments a function answers: the rule gets them by name and returns True, or why not."""

    def note(function: Callable[..., Any]) -> Callable[..., Any]:
        _RULES[function.__name__] = rule
        return function

    return note


def can_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Say whether a call can be served; a text says why not."""
    rule = _RULES.get(name)
    if rule is None:
        return True
    try:
        bound = inspect.signature(globals()[name]).bind(*args, **kwargs)
    except TypeError:
        return "these are no arguments of the function"
    bound.apply_defaults()
    return rule(bound.arguments)


def locked(function: Callable[..., Any]) -> Callable[..., Any]:
    """Have one thread at a time use the connection. A generator is made when it is asked for its first element."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        with STORE.lock:
            return function(*args, **kwargs)

    return call


def _by_name(weight: Any) -> bool | str:
    """A weight is the name of an attribute, or None."""
    return "a weight that is a function is not loaded" if callable(weight) else True


def _need(G: EmogiGraph, node: Any, message: str, error: type[Exception] = nx.NodeNotFound) -> int:
    """Get the place of a node that must be there."""
    if node not in G:
        raise error(message)
    return G.places[node]


def _no_multigraph(G: EmogiGraph) -> None:
    if G.is_multigraph():
        raise nx.NetworkXNotImplemented("not implemented for multigraph type")


def _lengths(G: EmogiGraph, weight: Any) -> None:
    """See that an attribute can be a length."""
    if weight is not None and not G.weights[weight].are_lengths:
        raise NotImplementedError(f"emogi takes lengths that are finite, 0 or more, and as whole numbers sum to 2^53 at most; {weight!r} is not so")


def _numbers(G: EmogiGraph, weight: Any, distances: np.ndarray) -> list[Any]:
    """Get distances as networkx has them: whole numbers where all weights are."""
    whole = weight is None or G.weights[weight].whole
    return distances.astype(np.int64).tolist() if whole else distances.tolist()


def _selected(G: EmogiGraph, nodes: Any, values: list[Any]) -> Any:
    """Get values of all nodes as a dict, of one node as itself, or of several as a dict: what networkx does with an nbunch."""
    if nodes is None:
        return dict(zip(G.nodes, values))
    if nodes in G:
        return values[G.places[nodes]]
    try:
        return {node: values[G.places[node]] for node in nodes if node in G}
    except TypeError as error:
        raise nx.NetworkXError(f"Node {nodes} is not in the graph.") from error


# ------------------------------------------------------------------------------------------------------------------ components


def _members(G: EmogiGraph, names: np.ndarray) -> Iterator[set[Any]]:
    """Go through components, in the order of their smallest vertex, by which they are named."""
    order = np.argsort(names, kind="stable")
    bounds = np.flatnonzero(np.diff(names[order])) + 1
    for part in np.split(order, bounds):
        yield {G.nodes[place] for place in part.tolist()}


def _components(G: EmogiGraph, function: str) -> np.ndarray:
    """Get the component of each vertex."""
    return getattr(G.handle(), function)(select=["component"])["component"] if len(G) else np.empty(0, np.int64)


def _generate(G: EmogiGraph, function: str) -> Iterator[set[Any]]:
    if len(G):
        with STORE.lock:
            names = _components(G, function)
        yield from _members(G, names)


def _count(G: EmogiGraph, function: str) -> int:
    return len(np.unique(_components(G, function)))


def _is_one(G: EmogiGraph, function: str) -> bool:
    if not len(G):
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    return _count(G, function) == 1


def connected_components(G):
    return _generate(G, "cc")


def number_connected_components(G):
    return _count(G, "cc")


def is_connected(G):
    return _is_one(G, "cc")


def node_connected_component(G, n):
    if n not in G:
        raise KeyError(n)
    return set(_levels(G, n, None, "both"))


def weakly_connected_components(G):
    return _generate(G, "cc")


def number_weakly_connected_components(G):
    return _count(G, "cc")


def is_weakly_connected(G):
    return _is_one(G, "cc")


def strongly_connected_components(G):
    # As networkx has them: a component comes behind those that it leads to.
    if len(G):
        with STORE.lock:
            names = _components(G, "scc")
            levels = _levels_of_components(G, names)
        parts = list(_members(G, names))
        for at in np.argsort(-levels, kind="stable").tolist():
            yield parts[at]


def _levels_of_components(G: EmogiGraph, names: np.ndarray) -> np.ndarray:
    """Get for each strong component, in the order of their names, how far it is from where edges come from."""
    found = np.unique(names)
    levels = np.zeros(len(found), np.int64)
    handle = G.handle()
    between = sql.SQL(
        "WITH c AS MATERIALIZED (SELECT vertex, component FROM {}) SELECT a.component AS src, b.component AS dst"
        " FROM {} AS e JOIN c AS a ON a.vertex = e.src JOIN c AS b ON b.vertex = e.dst WHERE a.component <> b.component"
    ).format(handle.call("scc"), G.table)
    if len(found) > 1:
        rows = Graph(G.connection, between, keys="bigint").topological_order(select=["vertex", "level"])
        levels[np.searchsorted(found, rows["vertex"])] = rows["level"]
    return levels


def number_strongly_connected_components(G):
    return _count(G, "scc")


def is_strongly_connected(G):
    return _is_one(G, "scc")


def biconnected_components(G):
    with STORE.lock:
        rows = G.handle().biconnected() if G.number_of_edges() else None
    if rows is not None and len(rows):
        bounds = np.flatnonzero(np.diff(rows["component"])) + 1
        for part in np.split(rows["vertex"], bounds):
            yield {G.nodes[place] for place in part.tolist()}


def is_biconnected(G):
    if not G.number_of_edges():
        return False
    rows = G.handle().biconnected(select=["component"])["component"]
    return len(rows) == len(G) and bool((rows == 0).all())


def articulation_points(G):
    with STORE.lock:
        points = G.handle().articulation_points(select=["vertex"])["vertex"].tolist() if len(G) else []
    for place in points:
        yield G.nodes[place]


@_only(lambda given: True if given["root"] is None else "a root is not looked at")
def bridges(G, root=None):
    with STORE.lock:
        rows = list(G.handle().bridges()) if G.number_of_edges() else []
    for source, target in rows:
        yield G.nodes[source], G.nodes[target]


@_only(lambda given: True if given["root"] is None else "a root is not looked at")
def has_bridges(G, root=None):
    return bool(G.number_of_edges()) and len(G.handle().bridges()) > 0


# --------------------------------------------------------------------------------------------------------------- unweighted paths


def _depth(cutoff: Any) -> int | None:
    """Get a bound of networkx as the largest level; below 0 it has the sources all the same."""
    return None if cutoff is None or cutoff == math.inf else max(0, math.floor(cutoff))


def _levels(G: EmogiGraph, source: Any, cutoff: Any, direction: str | None = None) -> dict[Any, int]:
    """Search from a node: the levels of nodes, level by level."""
    rows = G.handle().bfs(G.places[source], _depth(cutoff), direction if G.directed else None)
    order = np.argsort(rows["level"], kind="stable")
    return {G.nodes[place]: level for place, level in zip(rows["vertex"][order].tolist(), rows["level"][order].tolist())}


def _tree_paths(G: EmogiGraph, source: Any, cutoff: Any, direction: str | None, backward: bool) -> dict[Any, list[Any]]:
    """Search from a node: the way to each, or with ``backward`` from each to it."""
    rows = G.handle().bfs_tree(G.places[source], _depth(cutoff), direction, select=["vertex", "level", "predecessor"])
    order = np.argsort(rows["level"], kind="stable")
    return _walk(G, rows["vertex"][order], rows["predecessor"][order], backward)


def _walk(G: EmogiGraph, vertices: np.ndarray, predecessors: np.ndarray, backward: bool) -> dict[Any, list[Any]]:
    """Make paths of a tree whose vertices come after their predecessors."""
    paths: dict[Any, list[Any]] = {}
    for place, before in zip(vertices.tolist(), predecessors.tolist()):
        node = G.nodes[place]
        if before is None:
            paths[node] = [node]
        else:
            way = paths[G.nodes[before]]
            paths[node] = [node, *way] if backward else [*way, node]
    return paths


def single_source_shortest_path_length(G, source, cutoff=None):
    _need(G, source, f"Source {source} is not in G")
    return _levels(G, source, cutoff, "out")


def single_target_shortest_path_length(G, target, cutoff=None):
    _need(G, target, f"Target {target} is not in G")
    return _levels(G, target, cutoff, "in")


def single_source_shortest_path(G, source, cutoff=None):
    _need(G, source, f"Source {source} not in G")
    return _tree_paths(G, source, cutoff, None, False)


def single_target_shortest_path(G, target, cutoff=None):
    _need(G, target, f"Target {target} not in G")
    return _tree_paths(G, target, cutoff, "in" if G.directed else None, True)


def all_pairs_shortest_path_length(G, cutoff=None):
    for start in range(0, len(G), SOURCES_AT_ONCE):
        with STORE.lock:
            pairs = list(_some_pairs(G, start, cutoff))
        yield from pairs


def _some_pairs(G: EmogiGraph, start: int, cutoff: Any) -> Iterator[tuple[Any, dict[Any, int]]]:
    """Search from each of some nodes, by one query."""
    end = min(start + SOURCES_AT_ONCE, len(G))
    handle = G.handle()
    depth, direction = sql.Literal(_depth(cutoff)), sql.Literal("out" if G.directed else "both")
    query = sql.SQL(
        "SELECT s AS source, vertex, level FROM generate_series({}::bigint, {}) AS s, LATERAL {}.emogi_bfs({}, s, {}::int, {}) ORDER BY s, level, vertex"
    ).format(start, end - 1, sql.Identifier(handle.schema), handle.argument, depth, direction)
    rows = fetch(G.connection, query)
    bounds = np.searchsorted(rows["source"], np.arange(start, end + 1))
    vertices, levels = rows["vertex"], rows["level"]
    for place in range(start, end):
        part = slice(bounds[place - start], bounds[place - start + 1])
        yield G.nodes[place], dict(zip((G.nodes[v] for v in vertices[part].tolist()), levels[part].tolist()))


def _path(G: EmogiGraph, source: Any, target: Any, weight: Any) -> tuple[list[Any], np.ndarray]:
    """Get a shortest path between two nodes: its nodes, and their distances. Both are empty if there is none."""
    rows = G.handle(weight).shortest_path(G.places[source], G.places[target], select=["vertex", "distance"])
    return [G.nodes[place] for place in rows["vertex"].tolist()], rows["distance"]


def bidirectional_shortest_path(G, source, target):
    _need(G, source, f"Source {source} is not in G")
    _need(G, target, f"Target {target} is not in G")
    nodes, _ = _path(G, source, target, None)
    if not nodes:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return nodes


def has_path(G, source, target):
    _need(G, source, f"Source {source} is not in G")
    _need(G, target, f"Target {target} is not in G")
    rows = G.handle().reachable(f"VALUES ({G.places[source]}, {G.places[target]})", select=["reachable"])
    return bool(rows["reachable"][0])


def bfs_layers(G, sources):
    sources = [sources] if sources in G else list(dict.fromkeys(sources))
    for node in sources:
        _need(G, node, f"The node {node} is not in the graph.", nx.NetworkXError)
    if sources:
        with STORE.lock:
            rows = G.handle().bfs(G.places_of(sources))
        order = np.argsort(rows["level"], kind="stable")
        bounds = np.flatnonzero(np.diff(rows["level"][order])) + 1
        layers = np.split(rows["vertex"][order], bounds)
        yield sources
        for layer in layers[1:]:
            yield [G.nodes[place] for place in layer.tolist()]


def descendants_at_distance(G, source, distance):
    _need(G, source, f"The node {source} is not in the graph.", nx.NetworkXError)
    if not isinstance(distance, (int, np.integer)) or distance < 0:
        return set()
    return {node for node, level in _levels(G, source, int(distance), "out").items() if level == distance}


def descendants(G, source):
    _need(G, source, f"The node {source} is not in the graph.", nx.NetworkXError)
    return set(_levels(G, source, None, "out")) - {source}


def ancestors(G, source):
    _need(G, source, f"The node {source} is not in the graph.", nx.NetworkXError)
    return set(_levels(G, source, None, "in")) - {source}


# ------------------------------------------------------------------------------------------------------------------ weighted paths


def _distances(G: EmogiGraph, sources: list[Any], cutoff: Any, weight: Any, direction: str | None = None) -> dict[Any, Any]:
    """Get the distances from the nearest of several nodes, the smallest first."""
    _lengths(G, weight)
    bound = None if cutoff is None or cutoff == math.inf else max(0.0, float(cutoff))
    rows = G.handle(weight).sssp(G.places_of(sources), bound, direction)
    order = np.argsort(rows["distance"], kind="stable")
    return dict(zip((G.nodes[place] for place in rows["vertex"][order].tolist()), _numbers(G, weight, rows["distance"][order])))


def _distance_paths(G: EmogiGraph, source: Any, cutoff: Any, weight: Any, direction: str | None = None, backward: bool = False) -> tuple[dict, dict]:
    """Get distances from a node, and a shortest path to each."""
    _lengths(G, weight)
    bound = None if cutoff is None or cutoff == math.inf else max(0.0, float(cutoff))
    rows = G.handle(weight).shortest_path_tree(G.places[source], bound, direction, select=["vertex", "distance", "predecessor"])
    order = _after_predecessors(rows["vertex"], rows["distance"], rows["predecessor"])
    vertices, distances = rows["vertex"][order], rows["distance"][order]
    paths = _walk(G, vertices, rows["predecessor"][order], backward)
    return dict(zip(paths, _numbers(G, weight, distances))), paths


def _after_predecessors(vertices: np.ndarray, distances: np.ndarray, predecessors: np.ndarray) -> np.ndarray:
    """Order vertices by distance, and those of one distance, over edges of 0, behind their predecessors."""
    missing = np.ma.getmaskarray(predecessors)
    place = np.searchsorted(vertices, np.where(missing, vertices, np.ma.getdata(predecessors)))
    tied = (distances == distances[place]) & ~missing
    hops = np.zeros(len(vertices), np.int64)
    while True:
        deeper = np.where(tied, hops[place] + 1, 0)
        if (deeper == hops).all():
            return np.lexsort((hops, distances))
        hops = deeper


@_only(lambda given: _by_name(given["weight"]))
def single_source_dijkstra_path_length(G, source, cutoff=None, weight="weight"):
    _need(G, source, f"Node {source} not found in graph")
    return _distances(G, [source], cutoff, weight)


@_only(lambda given: _by_name(given["weight"]))
def multi_source_dijkstra_path_length(G, sources, cutoff=None, weight="weight"):
    if not sources:
        raise ValueError("sources must not be empty")
    for node in sources:
        _need(G, node, f"Node {node} not found in graph")
    return _distances(G, list(sources), cutoff, weight)


@_only(lambda given: _by_name(given["weight"]))
def single_source_dijkstra_path(G, source, cutoff=None, weight="weight"):
    _need(G, source, f"Node {source} not found in graph")
    return _distance_paths(G, source, cutoff, weight)[1]


@_only(lambda given: _by_name(given["weight"]) if given["target"] is None else "with a target networkx stops there")
def single_source_dijkstra(G, source, target=None, cutoff=None, weight="weight"):
    _need(G, source, f"Node {source} not found in graph")
    return _distance_paths(G, source, cutoff, weight)


def _weighted_path(G: EmogiGraph, source: Any, target: Any, weight: Any, missing: str) -> tuple[Any, list[Any]]:
    """Get length and nodes of a shortest path."""
    _lengths(G, weight)
    nodes, distances = _path(G, source, target, weight) if target in G else ([], np.empty(0))
    if not nodes:
        raise nx.NetworkXNoPath(missing)
    return _numbers(G, weight, distances[-1:])[0], nodes


@_only(lambda given: _by_name(given["weight"]))
def dijkstra_path(G, source, target, weight="weight"):
    _need(G, source, f"Node {source} not found in graph")
    return _weighted_path(G, source, target, weight, f"No path to {target}.")[1]


@_only(lambda given: _by_name(given["weight"]))
def dijkstra_path_length(G, source, target, weight="weight"):
    _need(G, source, f"Node {source} not found in graph")
    return 0 if source == target else _weighted_path(G, source, target, weight, f"Node {target} not reachable from {source}")[0]


@_only(lambda given: _by_name(given["weight"]))
def bidirectional_dijkstra(G, source, target, weight="weight"):
    _need(G, source, f"Source {source} is not in G")
    _need(G, target, f"Target {target} is not in G")
    return _weighted_path(G, source, target, weight, f"No path between {source} and {target}.")


def _generic(given: dict[str, Any]) -> bool | str:
    if given["method"] != "dijkstra":
        return "method is 'dijkstra' here"
    if given["source"] is None and given["target"] is None:
        return "a source or a target is needed"
    return _by_name(given["weight"])


@_only(_generic)
def shortest_path(G, source=None, target=None, weight=None, method="dijkstra"):
    if source is not None and target is not None:
        return bidirectional_shortest_path(G, source, target) if weight is None else bidirectional_dijkstra(G, source, target, weight)[1]
    if weight is None:
        return single_source_shortest_path(G, source) if target is None else single_target_shortest_path(G, target)
    if target is None:
        return single_source_dijkstra_path(G, source, weight=weight)
    _need(G, target, f"Node {target} not found in graph")
    return _distance_paths(G, target, None, weight, "in" if G.directed else None, True)[1]


@_only(_generic)
def shortest_path_length(G, source=None, target=None, weight=None, method="dijkstra"):
    if source is not None and target is not None:
        return len(bidirectional_shortest_path(G, source, target)) - 1 if weight is None else dijkstra_path_length(G, source, target, weight)
    if target is None:
        return single_source_shortest_path_length(G, source) if weight is None else single_source_dijkstra_path_length(G, source, weight=weight)
    if weight is None:
        # networkx searches from it in the graph turned around, and says so when it is not there.
        _need(G, target, f"Source {target} is not in G")
        return _levels(G, target, None, "in")
    _need(G, target, f"Node {target} not found in graph")
    return _distances(G, [target], None, weight, "in" if G.directed else None)


# ------------------------------------------------------------------------------------------------------------ centrality, structure


def _pagerank_rule(given: dict[str, Any]) -> bool | str:
    if given["nstart"] is not None:
        return "ranks begin equal"
    if given["dangling"] is not None and given["dangling"] != given["personalization"]:
        return "ranks of nodes without an edge go where leaps go"
    if not 0 <= given["alpha"] <= 1:
        return "alpha is from 0 to 1"
    return _by_name(given["weight"])


def _start(G: EmogiGraph, personalization: Any) -> str | None:
    """Write the proportions of leaps as a query of start values."""
    if personalization is None:
        return None
    places, values = [], []
    for node, value in personalization.items():
        if node in G:
            places.append(G.places[node])
            values.append(float(value))
    if not sum(values):
        raise ZeroDivisionError
    if min(values) < 0 or not all(map(math.isfinite, values)):
        raise NotImplementedError("emogi takes a personalization that is finite, 0 or more")
    return f"SELECT * FROM unnest('{{{','.join(map(str, places))}}}'::bigint[], '{{{','.join(map(repr, values))}}}'::float8[])"


@_only(_pagerank_rule)
def pagerank(G, alpha=0.85, personalization=None, max_iter=100, tol=1.0e-6, nstart=None, weight="weight", dangling=None):
    if not len(G):
        return {}
    start = _start(G, personalization)
    if max_iter < 1:
        raise nx.PowerIterationFailedConvergence(max_iter)
    weights = G.weights[weight] if weight is not None else None
    if weights is not None and (weights.smallest < 0 or not weights.finite):
        raise NotImplementedError(f"emogi takes weights that are finite, 0 or more; {weight!r} is not so")
    weighted = weights is not None and G.number_of_edges() > 0
    handle = G.handle(weight if weighted else None)
    tolerance = len(G) * tol

    def ranks(iterations: int, bound: float) -> np.ndarray:
        return handle.pagerank(float(alpha), iterations, bound, start, weights=weighted, select=["rank"])["rank"]

    result = ranks(max_iter, max(tolerance, 0.0))
    # emogi tells how many iterations it made, and not whether the last was near enough: that is asked where it was the last allowed.
    # So it is where others have made so many runs meanwhile that this one is no longer told of.
    query = sql.SQL("SELECT levels FROM {}.emogi_runs() WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1").format(sql.Identifier(handle.schema))
    row = G.connection.execute(query).fetchone()
    if row is None or row[0] >= max_iter:
        before = ranks(max_iter - 1, 0.0) if max_iter > 1 else np.full(len(G), 1 / len(G))
        if not np.abs(result - before).sum() < tolerance:
            raise nx.PowerIterationFailedConvergence(max_iter)
    return dict(zip(G.nodes, result.tolist()))


@_only(lambda given: True if given["k"] is None and given["weight"] is None and not given["endpoints"] else "k, weight and endpoints are not looked at")
def betweenness_centrality(G, k=None, normalized=True, weight=None, endpoints=False, seed=None):
    if not len(G):
        return {}
    values = G.handle().betweenness(normalized=bool(normalized), select=["centrality"])["centrality"]
    return dict(zip(G.nodes, values.tolist()))


@_only(lambda given: True if given["distance"] is None else "a distance is not looked at")
def closeness_centrality(G, u=None, distance=None, wf_improved=True):
    if not len(G):
        return {}
    if u is not None:
        _need(G, u, f"Source {u} is not in G")
        levels = np.fromiter(_levels(G, u, None, "in").values(), np.float64)
        return _closeness(np.array([len(levels)]), np.array([levels.sum()]), len(G), wf_improved)[0]
    rows = G.handle().closeness(direction="in" if G.directed else None, select=["reached", "farness"])
    return dict(zip(G.nodes, _closeness(rows["reached"], rows["farness"], len(G), wf_improved)))


def _closeness(reached: np.ndarray, farness: np.ndarray, n: int, improved: bool) -> list[float]:
    """Get closeness from the number of nodes that reach a node, itself included, and the sum of their distances, as networkx reckons."""
    with np.errstate(divide="ignore", invalid="ignore"):
        values = (reached - 1.0) / farness
    if improved and n > 1:
        values = values * ((reached - 1.0) / (n - 1))
    return np.where(farness > 0, values, 0.0).tolist()


@_only(lambda given: True if given["distance"] is None and given["sources"] is None else "distance and sources are not looked at")
def harmonic_centrality(G, nbunch=None, distance=None, sources=None):
    if not len(G):
        return {}
    values = G.handle().closeness(direction="in" if G.directed else None, select=["harmonic"])["harmonic"].tolist()
    if nbunch is not None and nbunch in G:
        nbunch = [nbunch]
    return _selected(G, nbunch, values)


def _average_rule(given: dict[str, Any]) -> bool | str:
    return True if given["weight"] is None and given["method"] in (None, "unweighted") else "a weight is not looked at"


@_only(_average_rule)
def average_shortest_path_length(G, weight=None, method=None):
    n = len(G)
    if n == 0:
        raise nx.NetworkXPointlessConcept("the null graph has no paths, thus there is no average shortest path length")
    if n == 1:
        return 0
    rows = G.handle().closeness(select=["reached", "farness"])
    if (rows["reached"] < n).any():
        raise nx.NetworkXError("Graph is not strongly connected." if G.directed else "Graph is not connected.")
    return int(rows["farness"].sum()) / (n * (n - 1))


def triangles(G, nodes=None):
    if nodes is not None:
        _no_multigraph(G)
    values = G.handle().triangles(select=["triangles"])["triangles"].tolist() if len(G) else []
    return _selected(G, nodes, values)


def _clustering_rule(given: dict[str, Any]) -> bool | str:
    if given["weight"] is not None:
        return "a weight is not looked at"
    return "of directed graphs networkx has another definition" if given["G"].is_directed() else True


@_only(_clustering_rule)
def clustering(G, nodes=None, weight=None):
    _no_multigraph(G)
    values = [value or 0 for value in G.handle().lcc("both", select=["coefficient"])["coefficient"].tolist()] if len(G) else []
    return _selected(G, nodes, values)


@_only(_clustering_rule)
def average_clustering(G, nodes=None, weight=None, count_zeros=True):
    values = clustering(G, nodes).values()
    if not count_zeros:
        values = [value for value in values if abs(value) > 0]
    return sum(values) / len(values)


@_only(lambda given: "of directed graphs networkx has another definition" if given["G"].is_directed() else True)
def transitivity(G):
    _no_multigraph(G)
    if not len(G):
        return 0
    found = sum(G.handle().triangles(select=["triangles"])["triangles"].tolist())
    degrees = G.handle().degree("both", select=["degree"])["degree"].copy()
    degrees[G.loops] -= 1
    pairs = sum(degree * (degree - 1) for degree in degrees.tolist())
    return 2 * found / pairs if found else 0


def core_number(G):
    _no_multigraph(G)
    if len(G.loops):
        raise nx.NetworkXNotImplemented(
            "Input graph has self loops which is not permitted; Consider using G.remove_edges_from(nx.selfloop_edges(G))."
        )
    if G.directed and _has_both_ways(G):
        # networkx counts such an edge twice, emogi once.
        raise NotImplementedError("emogi counts two edges between the same nodes as one")
    return dict(zip(G.nodes, G.handle().core(select=["core"])["core"].tolist() if len(G) else []))


def _has_both_ways(G: EmogiGraph) -> bool:
    """Does an edge lead back beside another?"""
    query = sql.SQL("SELECT FROM {0} a JOIN {0} b ON b.src = a.dst AND b.dst = a.src LIMIT 1").format(G.table)
    return G.connection.execute(query).fetchone() is not None
