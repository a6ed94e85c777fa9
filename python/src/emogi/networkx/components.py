"""Components, and what parts them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np
from psycopg import sql

from .._fetch import fetch
from .paths import levels_from
from .served import only
from .store import STORE, EmogiGraph


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
    return set(levels_from(G, n, None, "both"))


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
            edges = fetch(G.connection, sql.SQL("SELECT src, dst FROM {}").format(G.table))
        found, places = np.unique(names, return_inverse=True)
        parts = list(_members(G, names))
        for at in _ends_first(len(found), places[edges["src"]], places[edges["dst"]]):
            yield parts[at]


def _ends_first(count: int, sources: np.ndarray, targets: np.ndarray) -> list[int]:
    """Order what edges without a cycle, but for loops, lead between: each comes behind all that it leads to."""
    pairs = np.unique((targets * count + sources)[sources != targets])
    targets, sources = pairs // count, pairs % count
    left = np.bincount(sources, minlength=count).tolist()
    bounds = np.searchsorted(targets, np.arange(count + 1)).tolist()
    before = sources.tolist()
    order = [at for at in range(count) if not left[at]]
    # The list grows while it is gone through.
    for at in order:
        for source in before[bounds[at] : bounds[at + 1]]:
            left[source] -= 1
            if not left[source]:
                order.append(source)
    return order


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


@only(lambda given: True if given["root"] is None else "a root is not looked at")
def bridges(G, root=None):
    with STORE.lock:
        rows = list(G.handle().bridges()) if G.number_of_edges() else []
    for source, target in rows:
        yield G.nodes[source], G.nodes[target]


@only(lambda given: True if given["root"] is None else "a root is not looked at")
def has_bridges(G, root=None):
    return bool(G.number_of_edges()) and len(G.handle().bridges()) > 0
