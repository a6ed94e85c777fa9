#!/usr/bin/env python3
"""Writes test/data/power_iteration.csv: centralities by networkx of the karate club, Florentine
families, Les Miserables and random graphs.

    pip install networkx==3.6.1 scipy==1.17.1
    python3 test/data/power_iteration.py > test/data/power_iteration.csv

A row is a graph in one direction: its edges, and the values of networkx for its vertices in
ascending order. A column is empty if the result is not well defined: hubs if the largest singular
value is not well separated, eigenvectors that the iteration does not find. networkx has one edge
between two vertices, whose weight is the sum over all rows.
"""
import csv
import os
import random
import sys

import networkx as nx
import numpy as np


def known(name):
    """Read one of the known networks; vertices are numbers by the order of their names."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), name + '.csv')) as file:
        rows = [(row['source'], row['target'], float(row.get('weight') or 1)) for row in csv.DictReader(file)]
    names = sorted({name for row in rows for name in row[:2]})
    return [(names.index(a) + 1, names.index(b) + 1, weight) for a, b, weight in rows]


def made(seed):
    """Create a random graph, with duplicates and loops."""
    random.seed(seed)
    n = random.randint(3, 14)
    edges = [(random.randint(1, n), random.randint(1, n), float(random.choice((1, 1, 2, 3, 0.5)))) for _ in range(random.randint(n, 4 * n))]
    return edges + random.choices(edges, k=seed % 3)


def hits(graph, matrix):
    """Get hubs and authorities if they are well defined."""
    singular = np.linalg.svd(matrix, compute_uv=False)
    if len(singular) < 3 or singular[1] > 0.97 * singular[0]:
        return None, None
    return nx.hits(graph, max_iter=100000, tol=1e-15)


def eigenvector(graph):
    """Get eigenvector centralities if the iteration finds them."""
    try:
        return nx.eigenvector_centrality(graph, max_iter=3000, tol=1e-15, weight='weight')
    except nx.PowerIterationFailedConvergence:
        return None


def text(values):
    """Format the values of vertices as an array."""
    return '' if values is None else '{' + ','.join('%.12g' % abs(values[v]) for v in sorted(values)) + '}'


def main():
    """Write all rows."""
    out = csv.writer(sys.stdout, lineterminator='\n')
    out.writerow('name,way,weighted,src,dst,weight,alpha,hub,authority,eigenvector,katz,counted'.split(','))
    graphs = [(name, known(name)) for name in ('karate', 'florentine', 'miserables')] + [('random %d' % i, made(i)) for i in range(100)]
    for number, (name, edges) in enumerate(graphs):
        weighted = name == 'miserables' or number % 2 == 1
        for way in ('out', 'both'):
            graph = nx.DiGraph() if way == 'out' else nx.Graph()
            for a, b, weight in edges:
                before = graph.get_edge_data(a, b, {'weight': 0})['weight']
                graph.add_edge(a, b, weight=before + (weight if weighted else 1))
            matrix = nx.to_numpy_array(graph, nodelist=sorted(graph))
            radius = max(abs(np.linalg.eigvals(matrix)))
            alpha = float('%.3g' % (0.1 if radius < 9 and number % 5 == 0 else 0.9 / max(radius, 0.5)))
            hub, authority = hits(graph, matrix)
            katz = [nx.katz_centrality(graph, alpha, 1.5, max_iter=100000, tol=1e-14, normalized=normalized, weight='weight') for normalized in (True, False)]
            arrays = ['{' + ','.join('%g' % edge[i] for edge in edges) + '}' for i in range(3)]
            out.writerow([name, way, weighted] + arrays + [alpha] + [text(values) for values in (hub, authority, eigenvector(graph), *katz)])


main()
