"""What networkx calls: conversions, whether a call can be served, and the functions themselves."""

from __future__ import annotations

from typing import Any

import networkx as nx

from . import algorithms
from .info import FUNCTIONS
from .served import locked
from .store import STORE, EmogiGraph


class Backend:
    """The backend as networkx wants it: an object that has the functions as attributes."""

    @staticmethod
    def convert_from_nx(
        graph: Any,
        *,
        edge_attrs: dict[Any, Any] | None = None,
        node_attrs: dict[Any, Any] | None = None,
        preserve_edge_attrs: bool = False,
        preserve_node_attrs: bool = False,
        preserve_graph_attrs: bool = False,
        name: str | None = None,
        graph_name: str | None = None,
    ) -> EmogiGraph:
        """Take a graph with the attributes of edges that the call needs. No function here needs any of nodes."""
        if preserve_edge_attrs:
            raise NotImplementedError("emogi loads only edge attributes that are given by name")
        if hasattr(graph, "_graph"):
            # A view shows another graph, whose changes do not clear what networkx keeps for the view: it shall keep nothing.
            graph.__networkx_cache__ = None
        return EmogiGraph(graph, edge_attrs or {}, preserve_graph_attrs)

    @staticmethod
    def convert_to_nx(result: Any, *, name: str | None = None) -> Any:
        """Turn a graph of this backend into one of networkx; anything else is as it is."""
        return result.to_networkx() if isinstance(result, EmogiGraph) else result

    @staticmethod
    def can_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
        """Tell whether a call can be served; a text is the reason why not."""
        return algorithms.can_run(name, args, kwargs)

    @staticmethod
    def should_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
        """Tell whether the backend is worthwhile, if the user did not name it."""
        graph = args[0] if args else kwargs.get("G", kwargs.get("flowG"))
        if isinstance(graph, EmogiGraph):
            return True
        least = nx.config.backends.emogi.min_edges
        if graph is not None and graph.number_of_edges() < least:
            return f"the graph has fewer than {least} edges"
        return True


for _name in FUNCTIONS:
    setattr(Backend, _name, staticmethod(locked(algorithms.BY_NAME[_name])))

backend = Backend()
close = STORE.close
