"""Values of maximum flows and minimum cuts."""

from __future__ import annotations

from typing import Any

import networkx as nx

from .served import need, only
from .store import EmogiGraph


def _plain(given: dict[str, Any]) -> bool | str:
    """Is the algorithm left to the backend?"""
    return "a flow_func computes the flow itself" if given["flow_func"] is not None or given["kwargs"] else True


def _value(G: EmogiGraph, source: Any, target: Any, capacity: Any) -> int | float:
    """Get the value of a maximum flow, which is that of a minimum cut."""
    ends = [need(G, node, f"node {node} not in graph", nx.NetworkXError) for node in (source, target)]
    if source == target:
        raise nx.NetworkXError("source and sink are the same node")
    if G.is_multigraph():
        raise nx.NetworkXError("MultiGraph and MultiDiGraph not supported (yet).")
    if not G.weights[capacity].are_lengths:
        raise NotImplementedError(f"emogi supports only finite capacities of 0 or more, whose sum is at most 2^53 if they are whole numbers, unlike {capacity!r}")
    value = G.handle(capacity).max_flow(*ends)
    assert value is not None
    return int(value) if G.weights[capacity].whole else value


@only(_plain)
def maximum_flow_value(flowG, _s, _t, capacity="capacity", flow_func=None, **kwargs):
    return _value(flowG, _s, _t, capacity)


@only(_plain)
def minimum_cut_value(flowG, _s, _t, capacity="capacity", flow_func=None, **kwargs):
    return _value(flowG, _s, _t, capacity)
