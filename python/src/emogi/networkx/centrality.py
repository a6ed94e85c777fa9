"""Ranks, centralities, triangles and cores."""

from __future__ import annotations

import math
import operator
from typing import Any

import networkx as nx
import numpy as np
import psycopg
from psycopg import sql

from .paths import levels_from
from .served import by_name, need, no_multigraph, only, selected
from .store import EmogiGraph

# Of one call.
MOST_ITERATIONS = 1_000_000


def _pagerank_rule(given: dict[str, Any]) -> bool | str:
    if given["nstart"] is not None:
        return "ranks begin equal"
    if given["dangling"] is not None and given["dangling"] != given["personalization"]:
        return "ranks of nodes without an edge go where teleports go"
    if not 0 <= given["alpha"] <= 1:
        return "alpha is from 0 to 1"
    return by_name(given["weight"])


def _start(G: EmogiGraph, personalization: Any) -> str | None:
    """Write the proportions of teleports as a query of start values."""
    if personalization is None:
        return None
    places, values = [], []
    for node, value in personalization.items():
        if node in G:
            places.append(G.places[node])
            values.append(float(value))
    if not sum(values):
        raise ZeroDivisionError
    if min(values) < 0 or not math.isfinite(sum(values)):
        raise NotImplementedError("emogi supports only finite personalization values of 0 or more")
    return f"SELECT * FROM unnest('{{{','.join(map(str, places))}}}'::bigint[], '{{{','.join(map(repr, values))}}}'::float8[])"


@only(_pagerank_rule)
def pagerank(G, alpha=0.85, personalization=None, max_iter=100, tol=1.0e-6, nstart=None, weight="weight", dangling=None):
    if not len(G):
        return {}
    start = _start(G, personalization)
    if operator.index(max_iter) < 1:
        raise nx.PowerIterationFailedConvergence(max_iter)
    if max_iter > MOST_ITERATIONS or not math.isfinite(tol):
        raise NotImplementedError(f"emogi supports only max_iter up to {MOST_ITERATIONS} and a finite tol")
    weights = G.weights[weight] if weight is not None else None
    if weights is not None and (weights.smallest < 0 or not math.isfinite(weights.total)):
        raise NotImplementedError(f"emogi supports only finite weights of 0 or more, unlike {weight!r}")
    weighted = weights is not None and G.number_of_edges() > 0
    handle = G.handle(weight if weighted else None)
    tolerance = len(G) * tol

    def ranks(iterations: int, bound: float) -> np.ndarray:
        try:
            return handle.pagerank(float(alpha), iterations, bound, start, weights=weighted, select=["rank"])["rank"]
        except psycopg.DataError as error:
            # Numbers so large or small that the server does not reckon with them.
            raise NotImplementedError(f"emogi cannot compute ranks with these numbers: {error}") from error

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


@only(lambda given: True if given["k"] is None and given["weight"] is None and not given["endpoints"] else "k, weight and endpoints are not looked at")
def betweenness_centrality(G, k=None, normalized=True, weight=None, endpoints=False, seed=None):
    if not len(G):
        return {}
    values = G.handle().betweenness(normalized=bool(normalized), select=["centrality"])["centrality"]
    return dict(zip(G.nodes, values.tolist()))


@only(lambda given: True if given["distance"] is None else "a distance is not looked at")
def closeness_centrality(G, u=None, distance=None, wf_improved=True):
    if u is None and not len(G):
        return {}
    if u is not None:
        need(G, u, f"Source {u} is not in G")
        levels = np.fromiter(levels_from(G, u, None, "in").values(), np.float64)
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


@only(lambda given: True if given["distance"] is None and given["sources"] is None else "distance and sources are not looked at")
def harmonic_centrality(G, nbunch=None, distance=None, sources=None):
    values: list[Any] = []
    if len(G):
        harmonic = G.handle().closeness(direction="in" if G.directed else None, select=["harmonic"])["harmonic"].tolist()
        # networkx begins to sum with a whole 0.
        values = [value or 0 for value in harmonic]
    if nbunch is not None and nbunch in G:
        nbunch = [nbunch]
    return selected(G, nbunch, values)


def _average_rule(given: dict[str, Any]) -> bool | str:
    return True if given["weight"] is None and given["method"] in (None, "unweighted") else "a weight is not looked at"


@only(_average_rule)
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
        no_multigraph(G)
    values = G.handle().triangles(select=["triangles"])["triangles"].tolist() if len(G) else []
    return selected(G, nodes, values)


def _clustering_rule(given: dict[str, Any]) -> bool | str:
    if given["weight"] is not None:
        return "a weight is not looked at"
    return "of directed graphs networkx has another definition" if given["G"].is_directed() else True


@only(_clustering_rule)
def clustering(G, nodes=None, weight=None):
    no_multigraph(G)
    values = [value or 0 for value in G.handle().lcc("both", select=["coefficient"])["coefficient"].tolist()] if len(G) else []
    return selected(G, nodes, values)


@only(_clustering_rule)
def average_clustering(G, nodes=None, weight=None, count_zeros=True):
    values = clustering(G, nodes).values()
    if not count_zeros:
        values = [value for value in values if abs(value) > 0]
    return sum(values) / len(values)


@only(lambda given: "of directed graphs networkx has another definition" if given["G"].is_directed() else True)
def transitivity(G):
    no_multigraph(G)
    if not len(G):
        return 0
    found = sum(G.handle().triangles(select=["triangles"])["triangles"].tolist())
    degrees = G.handle().degree("both", select=["degree"])["degree"].copy()
    degrees[G.loops] -= 1
    pairs = sum(degree * (degree - 1) for degree in degrees.tolist())
    return 2 * found / pairs if found else 0


def core_number(G):
    no_multigraph(G)
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
