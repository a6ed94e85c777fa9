#!/usr/bin/env python3
"""graphalytics.py: the six algorithms of LDBC Graphalytics, as defined by its specification.

    python3 test/data/graphalytics.py          writes test/data/graphalytics.csv, 60 graphs, the reference of test/sql/graphalytics.sql
    python3 test/data/graphalytics.py DIR      prints the benchmark's validation graphs and outputs in the same format; DIR is a checkout of
                                               ldbc/ldbc_graphalytics, and reports differences to the formulas here

A row is a graph: vertices, edges, each once, with weights, and for every algorithm the values of
the vertices in their order. The specification is chapter 2 of
https://github.com/ldbc/ldbc_graphalytics_docs (arXiv:2011.15028). The written graphs are simple,
directed or undirected, some with isolated vertices, with large keys, or with weights of 0.
"""
import collections
import csv
import math
import os
import random
import sys

ALGORITHMS = "bfs cdlp lcc pr sssp wcc".split()
FAR = 2**63 - 1  # the level of a vertex that is not reached
Graph = collections.namedtuple("Graph", "name directed source iterations vertices edges")  # edges: {(src, dst): weight}


def neighbours(graph):
    """Get the neighbours of each vertex: out, in, with the weights."""
    out, into = ({v: {} for v in graph.vertices} for _ in range(2))
    for (u, v), weight in graph.edges.items():
        for a, b in [(u, v)] if graph.directed else [(u, v), (v, u)]:
            out[a][b] = into[b][a] = weight
    return out, into


def bfs(graph, out, into):
    level = dict.fromkeys(graph.vertices, FAR) | {graph.source: 0}
    for depth in range(len(graph.vertices)):
        for u in [u for u in graph.vertices if level[u] == depth]:
            for v in out[u]:
                level[v] = min(level[v], depth + 1)
    return level


def pr(graph, out, into, damping=0.85):
    n = len(graph.vertices)
    rank = dict.fromkeys(graph.vertices, 1 / n)
    for _ in range(graph.iterations):
        sinks = sum(rank[w] for w in graph.vertices if not out[w])
        rank = {v: (1 - damping) / n + damping * sum(rank[u] / len(out[u]) for u in into[v]) + damping / n * sinks for v in graph.vertices}
    return rank


def wcc(graph, out, into):
    label = {v: v for v in graph.vertices}
    for _ in graph.vertices:
        for u, v in graph.edges:
            label[u] = label[v] = max(label[u], label[v])
    return label


def cdlp(graph, out, into):
    label = {v: v for v in graph.vertices}
    for _ in range(graph.iterations):
        last, label = label, dict(label)
        for v in graph.vertices:
            counts = collections.Counter(last[u] for u in out[v])
            if graph.directed:
                counts.update(last[u] for u in into[v])
            if counts:
                label[v] = min(l for l in counts if counts[l] == max(counts.values()))
    return label


def lcc(graph, out, into):
    near = {v: set(out[v]) | set(into[v]) for v in graph.vertices}
    return {v: sum(len(near[v] & set(out[u])) for u in near[v]) / (len(near[v]) * (len(near[v]) - 1)) if len(near[v]) > 1 else 0.0 for v in graph.vertices}


def sssp(graph, out, into):
    distance = dict.fromkeys(graph.vertices, math.inf) | {graph.source: 0.0}
    for _ in graph.vertices:
        for u in graph.vertices:
            for v, weight in out[u].items():
                distance[v] = min(distance[v], distance[u] + weight)
    return distance


def answers(graph):
    """Get the results of each algorithm for each vertex."""
    return {name: globals()[name](graph, *neighbours(graph)) for name in ALGORITHMS}


def make(seed):
    """Create a random graph."""
    pick = random.Random(seed)
    directed = seed % 2 == 0
    n = pick.randint(2, 24)
    keys = sorted(pick.sample(range(1, 60) if seed % 3 else range(2**40, 2**40 + 10**6), n + pick.choice([0, 0, 1, 4])))
    ends = keys[:]
    pick.shuffle(ends)
    ends = ends[:n]
    edges = {}
    for _ in range(pick.choice([n // 2 + 1, n, 2 * n, 4 * n])):
        u, v = pick.sample(ends, 2)
        edges[(u, v) if directed else (min(u, v), max(u, v))] = pick.choice([0, 1, 2.5, pick.randint(1, 999) / 100])
    return Graph(f"own {seed}", directed, pick.choice(sorted(edges))[0], pick.randint(1, 12), keys, edges)


def same(name, vertices, ours, said):
    """Compare two outputs by the benchmark's rule."""
    if name == "wcc":
        return len({(ours[v], said[v]) for v in vertices}) == len(set(ours.values())) == len(set(said.values()))
    if name in ("bfs", "cdlp"):
        return ours == said
    return all(ours[v] == said[v] or abs(ours[v] - said[v]) <= 1e-4 * said[v] < math.inf for v in vertices)


def lines(path):
    """Get the words of the lines of a file of the benchmark."""
    with open(path, encoding="ascii") as file:
        return [line.split() for line in file if line.strip() and not line.startswith("#")]


def published(directory):
    """Get the benchmark's validation graphs with their outputs; source and iterations are those of its example-*.properties and *ValidationTest.java."""
    top = os.path.join(directory, "graphalytics-validation/src/main/resources/validation-graphs")
    iterations = {("cdlp", "dir"): 5, ("cdlp", "undir"): 5, ("pr", "dir"): 14, ("pr", "undir"): 26}
    for kind in ("dir", "undir"):
        directed = kind == "dir"
        example = os.path.join(top, "example", f"example-{kind}ected")
        yield evlp(f"example {kind}", directed, 1 if directed else 2, 2, example), {name: output(name, f"{example}-{name.upper()}") for name in ALGORITHMS}
        for name in ALGORITHMS:
            path = os.path.join(top, name, kind)
            read = evlp if name == "sssp" else adjacency
            yield read(f"{name} {kind}", directed, 1, iterations.get((name, kind), 1), path + "-input"), {name: output(name, path + "-output")}


def evlp(name, directed, source, iterations, path):
    """Read a graph from a file of vertices and one of edges."""
    edges = {(int(u), int(v)): float(weight) for u, v, weight in lines(path + ".e")}
    return Graph(name, directed, source, iterations, sorted(int(v) for v, in lines(path + ".v")), edges)


def adjacency(name, directed, source, iterations, path):
    """Read a graph from adjacency lists; undirected edges are stored once."""
    rows = [[int(word) for word in words] for words in lines(path)]
    edges = {(u, v) if directed else (min(u, v), max(u, v)): 1.0 for u, *others in rows for v in others}
    return Graph(name, directed, source, iterations, sorted({v for row in rows for v in row}), edges)


def output(name, path):
    """Read a published output."""
    return {int(v): (int if name in ("bfs", "cdlp", "wcc") else float)(value) for v, value in lines(path)}


def array(values):
    """Format values as a PostgreSQL array."""
    return "{%s}" % ",".join(f"{value:.10g}".replace("inf", "Infinity") if isinstance(value, float) else str(value) for value in values)


def write(file, graphs):
    """Write graphs with their outputs."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow("graph directed source iterations vertices src dst weight".split() + ALGORITHMS)
    for graph, said in graphs:
        writer.writerow([graph.name, graph.directed, graph.source, graph.iterations, array(graph.vertices), array(u for u, _ in graph.edges),
                         array(v for _, v in graph.edges), array(graph.edges.values())]
                        + [array(said[name][v] for v in graph.vertices) if name in said else "" for name in ALGORITHMS])


def main():
    if len(sys.argv) == 1:
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "graphalytics.csv"), "w", newline="", encoding="ascii") as file:
            write(file, ((graph, answers(graph)) for graph in map(make, range(60))))
        return
    graphs = list(published(sys.argv[1]))
    for graph, said in graphs:
        ours = answers(graph)
        for name in said:
            assert sorted(said[name]) == graph.vertices, f"{graph.name}, {name}: the output has different vertices"
            if not same(name, graph.vertices, ours[name], said[name]):
                print(f"{graph.name}: the formula of {name} has a different result", file=sys.stderr)
    write(sys.stdout, graphs)


if __name__ == "__main__":
    main()
