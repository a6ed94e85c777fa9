"""What networkx is told of the backend before it is loaded. Does not import psycopg, and of networkx no more than it has when it asks."""

from __future__ import annotations

import os
import warnings
from typing import Any

# Each function with what is said of it in networkx's own documentation.
FUNCTIONS: dict[str, str] = {
    "all_pairs_shortest_path_length": "",
    "all_simple_paths": "Not for multigraphs. Paths of fewer edges come first.",
    "ancestors": "",
    "articulation_points": "They come in the order of the nodes.",
    "average_clustering": "Undirected graphs without `weight`.",
    "average_shortest_path_length": "Without `weight`.",
    "betweenness_centrality": "Without `k`, `weight` and `endpoints`. Values agree to 1e-9.",
    "bfs_layers": "A layer has the order of the nodes.",
    "biconnected_components": "They come in the order of their smallest node, by its place in the graph.",
    "bidirectional_dijkstra": "Of paths of equal length the one with the fewest edges.",
    "bidirectional_shortest_path": "",
    "bridges": "Without `root`.",
    "closeness_centrality": "Without `distance`.",
    "clustering": "Undirected graphs without `weight`.",
    "connected_components": "",
    "core_number": "",
    "descendants": "",
    "descendants_at_distance": "",
    "dijkstra_path": "Of paths of equal length the one with the fewest edges.",
    "dijkstra_path_length": "",
    "harmonic_centrality": "Without `distance` and `sources`. Values agree to rounding.",
    "has_bridges": "Without `root`.",
    "has_path": "",
    "is_biconnected": "",
    "is_connected": "",
    "is_strongly_connected": "",
    "is_weakly_connected": "",
    "maximum_flow_value": "Without `flow_func`; capacities are finite.",
    "minimum_cut_value": "Without `flow_func`; capacities are finite.",
    "multi_source_dijkstra_path_length": "",
    "node_connected_component": "",
    "number_connected_components": "",
    "number_strongly_connected_components": "",
    "number_weakly_connected_components": "",
    "pagerank": "Without `nstart`; `dangling` only if it is the personalization. Values agree to 1e-9.",
    "shortest_path": "`method` is 'dijkstra'; a source, a target or both.",
    "shortest_path_length": "`method` is 'dijkstra'; a source, a target or both.",
    "single_source_dijkstra": "Without `target`.",
    "single_source_dijkstra_path": "",
    "single_source_dijkstra_path_length": "",
    "single_source_shortest_path": "",
    "single_source_shortest_path_length": "",
    "single_target_shortest_path": "",
    "single_target_shortest_path_length": "",
    "strongly_connected_components": "A component comes behind those that it leads to.",
    "transitivity": "",
    "triangles": "",
    "weakly_connected_components": "",
}


LEAST_EDGES = 10_000


def _least_edges() -> int:
    """Get EMOGI_MIN_EDGES. An error would have networkx do without all other settings."""
    said = os.environ.get("EMOGI_MIN_EDGES", "").strip()
    if said and not said.isdigit():
        warnings.warn(f"EMOGI_MIN_EDGES must be a whole number of 0 or more, not {said!r}; using {LEAST_EDGES}", stacklevel=2)
        return LEAST_EDGES
    return int(said) if said else LEAST_EDGES


def _config() -> Any:
    """Make the settings, which refuse what they cannot be."""
    # networkx has this module when it asks.
    from networkx.utils.configs import Config

    class EmogiConfig(Config):
        conninfo: str
        schema: str
        min_edges: int

        def _on_setattr(self, key: str, value: Any) -> Any:
            if key == "min_edges":
                if isinstance(value, bool) or not isinstance(value, (int, float)) or not value >= 0:
                    raise ValueError(f"emogi's min_edges must be a number of 0 or more, not {value!r}")
            elif not isinstance(value, str):
                raise TypeError(f"emogi's {key} must be a str, not {value!r}")
            return value

    return EmogiConfig(
        # How to connect, as libpq has it. Empty: by the environment, PGHOST and so on.
        conninfo=os.environ.get("EMOGI_CONNINFO", ""),
        # Where tables are made. Empty: they are temporary ones, whose graph is built for each call.
        schema=os.environ.get("EMOGI_SCHEMA", ""),
        # Without backend="emogi" graphs of fewer edges are left to networkx.
        min_edges=_least_edges(),
    )


def get_info() -> dict[str, Any]:
    """Tell networkx what the backend is, what it has, and how it is set."""
    return {
        "backend_name": "emogi",
        "project": "emogi",
        "package": "emogi",
        "short_summary": "Graph algorithms in PostgreSQL, with the extension emogi.",
        "description": "Loads a graph into a table of a PostgreSQL server and calls the functions of the extension emogi.",
        "functions": {name: {"additional_docs": text} if text else {} for name, text in FUNCTIONS.items()},
        "default_config": _config(),
    }
