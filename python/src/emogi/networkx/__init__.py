"""A backend for networkx: ``nx.pagerank(G, backend="emogi")``.

networkx finds it by the entry points of the package. ``info`` tells what there is and imports nothing else; ``interface`` is what
networkx calls; ``store`` loads graphs into tables; ``components``, ``paths``, ``flows`` and ``centrality`` have the functions, ``algorithms`` all of them by name.
"""
