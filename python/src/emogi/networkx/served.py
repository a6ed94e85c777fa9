"""What the functions share: which calls they answer, and how nodes, numbers and errors of networkx are made of the server's."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np

from .store import STORE, EmogiGraph

RULES: dict[str, Callable[[dict[str, Any]], bool | str]] = {}


def only(rule: Callable[[dict[str, Any]], bool | str]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Say for which arguments a function answers: the rule gets them by name and returns True, or why not."""

    def note(function: Callable[..., Any]) -> Callable[..., Any]:
        RULES[function.__name__] = rule
        return function

    return note


def locked(function: Callable[..., Any]) -> Callable[..., Any]:
    """Have one thread at a time use the connection. A generator is made when it is asked for its first element."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        with STORE.lock:
            return function(*args, **kwargs)

    return call


def by_name(weight: Any) -> bool | str:
    """A weight is the name of an attribute, or None."""
    return "a weight that is a function is not loaded" if callable(weight) else True


def need(G: EmogiGraph, node: Any, message: str, error: type[Exception] = nx.NodeNotFound) -> int:
    """Get the place of a node that must be there."""
    if node not in G:
        raise error(message)
    return G.places[node]


def no_multigraph(G: EmogiGraph) -> None:
    if G.is_multigraph():
        raise nx.NetworkXNotImplemented("not implemented for multigraph type")


def lengths(G: EmogiGraph, weight: Any) -> None:
    """See that an attribute can be a length."""
    if weight is not None and not G.weights[weight].are_lengths:
        raise NotImplementedError(f"emogi supports only finite lengths of 0 or more, whose sum is at most 2^53 if they are whole numbers, unlike {weight!r}")


def numbers(G: EmogiGraph, weight: Any, distances: np.ndarray) -> list[Any]:
    """Get distances as networkx has them: whole numbers where all weights are."""
    whole = weight is None or G.weights[weight].whole
    return distances.astype(np.int64).tolist() if whole else distances.tolist()


def selected(G: EmogiGraph, nodes: Any, values: list[Any]) -> Any:
    """Get values of all nodes as a dict, of one node as itself, or of several as a dict: what networkx does with an nbunch."""
    if nodes is None:
        return dict(zip(G.nodes, values))
    if nodes in G:
        return values[G.places[nodes]]
    try:
        return {node: values[G.places[node]] for node in nodes if node in G}
    except TypeError as error:
        raise nx.NetworkXError(f"Node {nodes} is not in the graph.") from error
