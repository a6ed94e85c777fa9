#!/usr/bin/env python3
"""forests.py: results of networkx for 240 small graphs; writes test/data/forests.csv, the reference
of test/sql/forests.sql.

    pip install networkx==3.6.1 && python3 test/data/forests.py

A row is a graph: the endpoints and weights of its edges, including parallel edges and loops, and as
sorted text: its minimum and maximum spanning forest, "src-dst:weight", its bridges, "src-dst",
articulation points, "vertex:number of biconnected components", and biconnected components,
"vertices,...". networkx chooses any minimum spanning forest; the one written is Kruskal's, by
(weight, src, dst), of equal weight.
"""
import csv
import itertools
import os
import random

import networkx


def ends(kind, pick):
    """Get the endpoints of the edges of a graph of a kind."""
    n = pick.randint(1, 16)
    if kind == 0:  # a path
        return [(i, i + 1) for i in range(n)]
    if kind == 1:  # a cycle
        return [(i, (i + 1) % (n + 2)) for i in range(n + 2)]
    if kind == 2:  # a star
        return [(0, i + 1) for i in range(n)]
    if kind == 3:  # two cliques and a path between them
        graph = networkx.barbell_graph(pick.randint(3, 5), pick.randint(0, 3))
        return list(graph.edges)
    if kind == 4:  # a grid
        graph = networkx.grid_2d_graph(pick.randint(1, 5), pick.randint(2, 4))
        return [(a * 10 + b, c * 10 + d) for (a, b), (c, d) in graph.edges]
    if kind == 5:  # a tree and a few more edges
        return [(i, pick.randint(0, i - 1)) for i in range(1, n + 1)] + [(pick.randint(0, n), pick.randint(0, n)) for _ in range(n // 5)]
    if kind == 6:  # cycles that share vertices
        edges = []
        for i in range(n // 3 + 1):
            top = pick.randint(0, 2 * i)
            edges += [(top, 2 * i + 1), (2 * i + 1, 2 * i + 2)] + ([(2 * i + 2, top)] if pick.random() < 0.8 else [])
        return edges
    return [(pick.randint(0, n), pick.randint(0, n)) for _ in range(pick.randint(1, 2 * n))]  # any edges


def make(seed):
    """Create a graph: its edges with weights."""
    pick = random.Random(seed)
    edges = [(u, v) for u, v in ends(seed % 9, pick)]
    edges += [edge[:: pick.choice([1, -1])] for edge in edges if pick.random() < 0.1]  # parallel ones
    edges += [(edge[0], edge[0]) for edge in edges if pick.random() < 0.05] + [(99, 99)] * (pick.random() < 0.2)  # loops
    numbers = list(range(-20, 100))
    if seed % 2:
        pick.shuffle(numbers)
    most = pick.choice([1, 3, 40])
    pick.shuffle(edges)
    return [(numbers[u + 20], numbers[v + 20], pick.randint(-most, most) / 2) for u, v in edges]


def kruskal(edges, sign):
    """Get the first spanning forest in the order of (weight, src, dst)."""
    tree = {}

    def root(v):
        while tree.setdefault(v, v) != v:
            v = tree[v]
        return v

    taken = []
    for weight, u, v in sorted((sign * w, min(u, v), max(u, v)) for u, v, w in edges if u != v):
        if root(u) != root(v):
            tree[root(u)] = root(v)
            taken.append((u, v, sign * weight))
    return sorted(taken)


def row(seed):
    """Get the row of a graph."""
    edges = make(seed)
    multigraph = networkx.MultiGraph()
    multigraph.add_weighted_edges_from(edges)
    graph = networkx.Graph(multigraph)
    graph.remove_edges_from(list(networkx.selfloop_edges(graph)))
    forests = []
    for sign, of_networkx in ((1, networkx.minimum_spanning_edges), (-1, networkx.maximum_spanning_edges)):
        forest = kruskal(edges, sign)
        assert sum(w for _, _, w in forest) == sum(data["weight"] for *_, data in of_networkx(multigraph, keys=True, data=True))
        assert len(forest) == len(graph) - networkx.number_connected_components(graph)
        forests.append(" ".join(f"{u}-{v}:{w:g}" for u, v, w in forest))
    bridges = sorted((min(u, v), max(u, v)) for u, v in networkx.bridges(multigraph))
    blocks = sorted(sorted(block) for block in networkx.biconnected_components(graph))
    points = sorted(networkx.articulation_points(graph))
    of_vertex = list(itertools.chain(*blocks))
    return [seed, "{%s}" % ",".join(str(u) for u, _, _ in edges), "{%s}" % ",".join(str(v) for _, v, _ in edges),
            "{%s}" % ",".join(f"{w:g}" for *_, w in edges), *forests, " ".join(f"{u}-{v}" for u, v in bridges),
            " ".join(f"{v}:{of_vertex.count(v)}" for v in points), " ".join(",".join(map(str, block)) for block in blocks)]


with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "forests.csv"), "w", newline="") as file:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow("graph src dst weight minimum maximum bridges points blocks".split())
    writer.writerows(row(seed) for seed in range(240))
