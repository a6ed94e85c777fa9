"""The functions of networkx that emogi answers with the same parameters and results, by name.

Each has the signature of networkx. What a function cannot serve is told by its rule, before a graph is loaded, or raises
NotImplementedError, when it shows in the graph; networkx then goes to another backend or tells the user.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from . import centrality, components, flows, paths
from .info import FUNCTIONS
from .served import RULES

BY_NAME: dict[str, Callable[..., Any]] = {
    name: getattr(next(module for module in (centrality, components, flows, paths) if hasattr(module, name)), name) for name in FUNCTIONS
}


def can_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Say whether a call can be served; a text says why not."""
    rule = RULES.get(name)
    if rule is None:
        return True
    try:
        bound = inspect.signature(BY_NAME[name]).bind(*args, **kwargs)
    except TypeError:
        return "these are no arguments of the function"
    bound.apply_defaults()
    return rule(bound.arguments)
