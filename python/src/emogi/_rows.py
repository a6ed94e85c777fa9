"""The classes of rows: named tuples whose fields are the columns of a result, with any names, and which print as tuples."""

from __future__ import annotations

import collections
import functools
import itertools
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Any

_namedtuple: Any = collections.namedtuple
_METHODS = frozenset(dir(_namedtuple("Row", ())))


def _identifier(name: str) -> str:
    """Get a name if Python reads it as it is, and otherwise the empty one: two names may be one identifier."""
    return name if unicodedata.normalize("NFKC", name) == name else ""


@functools.lru_cache(maxsize=256)
def row_class(names: tuple[str, ...]) -> Any:
    """Get the class of rows with these columns, the same one for the same names while it is cached."""
    row = _namedtuple("Row", map(_identifier, names), rename=True)
    row.__repr__ = tuple.__repr__
    row.__reduce__ = _reduce
    if row._fields != names:
        # namedtuple renames what is not an identifier. The names are those of the columns nevertheless, also for pandas.
        getters = [getattr(row, field) for field in row._fields]
        for name, getter in zip(names, getters):
            # Other names would be methods of Python: "__deepcopy__".
            if name not in _METHODS and not name.startswith("__"):
                setattr(row, name, getter)
        row._fields = names
        row._replace = row.__replace__ = _replace
    return row


def make_rows(names: tuple[str, ...], columns: Iterable[list[Any]]) -> Iterator[tuple[Any, ...]]:
    """Iterate over the rows of columns."""
    # zip makes as many values as there are names, so the constructor in Python, which counts them, is not needed.
    return map(tuple.__new__, itertools.repeat(row_class(names)), zip(*columns))


def _unpickle(names: tuple[str, ...], values: tuple[Any, ...]) -> Any:
    return row_class(names)._make(values)


def _reduce(self: Any) -> tuple[Any, ...]:
    """Pickle and copy a row by the names of its columns: its class is not in a module."""
    return _unpickle, (self._fields, tuple(self))


def _replace(self: Any, /, **values: Any) -> Any:
    """Get the row with some values replaced, by the names of the columns instead of those of namedtuple."""
    return self._make({**self._asdict(), **values}.values())
