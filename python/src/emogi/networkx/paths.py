"""Paths and searches, by edges and by weights."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np
from psycopg import sql

from .._fetch import fetch
from .._notices import Notice
from .served import by_name, lengths, need, numbers, only
from .store import STORE, EmogiGraph

# Sources of one query where all pairs are asked for.
SOURCES_AT_ONCE = 256

# Since networkx 3.5 single_target_shortest_path_length does, as the others.
RETURNS_DICT = tuple(int(part) for part in nx.__version__.split(".")[:2]) >= (3, 5)
# No path has more edges than an int4 counts.
MOST_EDGES = 2**31 - 1
# Simple paths of the first query. Each further one asks for ten times as many.
FIRST_SIMPLE_PATHS = 1000


def _depth(cutoff: Any) -> int | None:
    """Get a bound of networkx as the largest level. It goes on while the bound is above the level, and has the sources all the same."""
    if cutoff is None or cutoff >= MOST_EDGES:
        return None
    return math.ceil(cutoff) if cutoff > 0 else 0


def _bound(cutoff: Any) -> float | None:
    """Get a bound of lengths. networkx leaves out what is above it, which nothing is if it is NaN."""
    return None if cutoff is None or cutoff == math.inf or cutoff != cutoff else float(cutoff)


def levels_from(G: EmogiGraph, source: Any, cutoff: Any, direction: str | None = None) -> dict[Any, int]:
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
    need(G, source, f"Source {source} is not in G")
    return levels_from(G, source, cutoff, "out")


@only(lambda given: True if RETURNS_DICT else "networkx before 3.5 returns an iterator")
def single_target_shortest_path_length(G, target, cutoff=None):
    need(G, target, f"Target {target} is not in G")
    return levels_from(G, target, cutoff, "in")


def single_source_shortest_path(G, source, cutoff=None):
    need(G, source, f"Source {source} not in G")
    return _tree_paths(G, source, cutoff, None, False)


def single_target_shortest_path(G, target, cutoff=None):
    need(G, target, f"Target {target} not in G")
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
    need(G, source, f"Source {source} is not in G")
    need(G, target, f"Target {target} is not in G")
    nodes, _ = _path(G, source, target, None)
    if not nodes:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return nodes


def has_path(G, source, target):
    need(G, source, f"Source {source} is not in G")
    need(G, target, f"Target {target} is not in G")
    rows = G.handle().reachable(f"VALUES ({G.places[source]}, {G.places[target]})", select=["reachable"])
    return bool(rows["reachable"][0])


def bfs_layers(G, sources):
    sources = [sources] if sources in G else list(dict.fromkeys(sources))
    for node in sources:
        need(G, node, f"The node {node} is not in the graph.", nx.NetworkXError)
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
    need(G, source, f"The node {source} is not in the graph.", nx.NetworkXError)
    # networkx counts layers until one equals the distance, and 1.0 equals 1.
    try:
        layer = int(distance)
    except (TypeError, ValueError, OverflowError):
        return set()
    if layer != distance or not 0 <= layer <= len(G):
        return set()
    return {node for node, level in levels_from(G, source, layer, "out").items() if level == layer}


def descendants(G, source):
    need(G, source, f"The node {source} is not in the {'di' if G.directed else ''}graph.", nx.NetworkXError)
    return set(levels_from(G, source, None, "out")) - {source}


def ancestors(G, source):
    need(G, source, f"The node {source} is not in the {'di' if G.directed else ''}graph.", nx.NetworkXError)
    return set(levels_from(G, source, None, "in")) - {source}


def _simple(given: dict[str, Any]) -> bool | str:
    """networkx repeats a path for each combination of parallel edges."""
    return "parallel edges make equal paths" if given["G"].is_multigraph() else True


def _some_simple_paths(G: EmogiGraph, source: int, targets: list[int], depth: int | None, count: int) -> list[list[Any]]:
    """Get simple paths, those of the fewest edges, at most as many as said."""
    with STORE.lock, warnings.catch_warnings():
        warnings.simplefilter("ignore", Notice)
        rows = G.handle().simple_paths(source, targets, depth, max_paths=count, select=["path_id", "vertex"])
    ends = np.flatnonzero(np.diff(rows["path_id"])) + 1
    return [[G.nodes[place] for place in part.tolist()] for part in np.split(rows["vertex"], ends) if len(part) > 0]


@only(_simple)
def all_simple_paths(G, source, target, cutoff=None):
    need(G, source, f"source node {source} not in graph")
    try:
        targets = {target} if target in G else set(target)
    except TypeError as error:
        raise nx.NodeNotFound(f"target node {target} not in graph") from error
    if cutoff is not None and not cutoff >= 0:
        return
    if source in targets:
        yield [source]
    places = sorted(G.places_of([node for node in targets if node in G and node != source]))
    depth = _depth(cutoff)
    seen, count = 0, FIRST_SIMPLE_PATHS
    while places and depth != 0 and seen < count:
        paths = _some_simple_paths(G, G.places[source], places, depth, count)
        yield from paths[seen:]
        # if there were fewer than asked for, these are all
        seen, count = (len(paths), min(10 * count, MOST_EDGES)) if len(paths) == count else (count, count)


def _distances(G: EmogiGraph, sources: list[Any], cutoff: Any, weight: Any, direction: str | None = None) -> dict[Any, Any]:
    """Get the distances from the nearest of several nodes, the smallest first."""
    lengths(G, weight)
    bound = _bound(cutoff)
    # networkx begins with a whole 0 at the sources, and has these whatever the bound is.
    own = dict.fromkeys(sources, 0)
    if bound is not None and bound < 0:
        return own
    rows = G.handle(weight).sssp(G.places_of(sources), bound, direction)
    order = np.argsort(rows["distance"], kind="stable")
    found = dict(zip((G.nodes[place] for place in rows["vertex"][order].tolist()), numbers(G, weight, rows["distance"][order])))
    return {**found, **own}


def _distance_paths(G: EmogiGraph, source: Any, cutoff: Any, weight: Any, direction: str | None = None, backward: bool = False) -> tuple[dict, dict]:
    """Get distances from a node, and a shortest path to each."""
    lengths(G, weight)
    bound = _bound(cutoff)
    if bound is not None and bound < 0:
        return {source: 0}, {source: [source]}
    rows = G.handle(weight).shortest_path_tree(G.places[source], bound, direction, select=["vertex", "distance", "predecessor"])
    order = _after_predecessors(rows["vertex"], rows["distance"], rows["predecessor"])
    vertices, distances = rows["vertex"][order], rows["distance"][order]
    paths = _walk(G, vertices, rows["predecessor"][order], backward)
    return {**dict(zip(paths, numbers(G, weight, distances))), source: 0}, paths


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


@only(lambda given: by_name(given["weight"]))
def single_source_dijkstra_path_length(G, source, cutoff=None, weight="weight"):
    need(G, source, f"Node {source} not found in graph")
    return _distances(G, [source], cutoff, weight)


@only(lambda given: by_name(given["weight"]))
def multi_source_dijkstra_path_length(G, sources, cutoff=None, weight="weight"):
    if not sources:
        raise ValueError("sources must not be empty")
    for node in sources:
        need(G, node, f"Node {node} not found in graph")
    return _distances(G, list(sources), cutoff, weight)


@only(lambda given: by_name(given["weight"]))
def single_source_dijkstra_path(G, source, cutoff=None, weight="weight"):
    need(G, source, f"Node {source} not found in graph")
    return _distance_paths(G, source, cutoff, weight)[1]


@only(lambda given: by_name(given["weight"]) if given["target"] is None else "with a target networkx stops there")
def single_source_dijkstra(G, source, target=None, cutoff=None, weight="weight"):
    need(G, source, f"Node {source} not found in graph")
    return _distance_paths(G, source, cutoff, weight)


def _weighted_path(G: EmogiGraph, source: Any, target: Any, weight: Any, missing: str) -> tuple[Any, list[Any]]:
    """Get length and nodes of a shortest path."""
    lengths(G, weight)
    if source == target:
        return 0, [source]
    nodes, distances = _path(G, source, target, weight) if target in G else ([], np.empty(0))
    if not nodes:
        raise nx.NetworkXNoPath(missing)
    return numbers(G, weight, distances[-1:])[0], nodes


@only(lambda given: by_name(given["weight"]))
def dijkstra_path(G, source, target, weight="weight"):
    need(G, source, f"Node {source} not found in graph")
    return _weighted_path(G, source, target, weight, f"No path to {target}.")[1]


@only(lambda given: by_name(given["weight"]))
def dijkstra_path_length(G, source, target, weight="weight"):
    need(G, source, f"Node {source} not found in graph")
    return 0 if source == target else _weighted_path(G, source, target, weight, f"Node {target} not reachable from {source}")[0]


@only(lambda given: by_name(given["weight"]))
def bidirectional_dijkstra(G, source, target, weight="weight"):
    need(G, source, f"Source {source} is not in G")
    need(G, target, f"Target {target} is not in G")
    return _weighted_path(G, source, target, weight, f"No path between {source} and {target}.")


def _generic(given: dict[str, Any]) -> bool | str:
    if given["method"] != "dijkstra":
        return "method is 'dijkstra' here"
    if given["source"] is None and given["target"] is None:
        return "a source or a target is needed"
    return by_name(given["weight"])


@only(_generic)
def shortest_path(G, source=None, target=None, weight=None, method="dijkstra"):
    if source is not None and target is not None:
        return bidirectional_shortest_path(G, source, target) if weight is None else bidirectional_dijkstra(G, source, target, weight)[1]
    if weight is None:
        return single_source_shortest_path(G, source) if target is None else single_target_shortest_path(G, target)
    if target is None:
        return single_source_dijkstra_path(G, source, weight=weight)
    need(G, target, f"Node {target} not found in graph")
    return _distance_paths(G, target, None, weight, "in" if G.directed else None, True)[1]


@only(_generic)
def shortest_path_length(G, source=None, target=None, weight=None, method="dijkstra"):
    if source is not None and target is not None:
        return len(bidirectional_shortest_path(G, source, target)) - 1 if weight is None else dijkstra_path_length(G, source, target, weight)
    if target is None:
        return single_source_shortest_path_length(G, source) if weight is None else single_source_dijkstra_path_length(G, source, weight=weight)
    if weight is None:
        # networkx searches from it in the graph turned around, and says so when it is not there.
        need(G, target, f"Source {target} is not in G")
        return levels_from(G, target, None, "in")
    need(G, target, f"Node {target} not found in graph")
    return _distances(G, [target], None, weight, "in" if G.directed else None)
