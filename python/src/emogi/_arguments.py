"""The types of arguments, for annotations. What they are at run time is checked where a call is put together."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Literal, Protocol

import numpy as np
from psycopg import sql


class NumpyLike(Protocol):
    """A column of numpy or pandas."""

    def tolist(self) -> Any: ...


class ArrowLike(Protocol):
    """A column of Arrow."""

    def to_pylist(self) -> Any: ...


class PolarsLike(Protocol):
    """A column of polars."""

    def to_list(self) -> Any: ...


Direction = Literal["out", "in", "both"]
KeyType = Literal["bigint", "text", "uuid"]

# A vertex: an int, a str or a UUID, by the type of the columns; a tuple where several columns are the key.
Key = int | str | uuid.UUID | tuple[Any, ...] | np.integer[Any]
Keys = Sequence[Key] | AbstractSet[Key] | NumpyLike | ArrowLike | PolarsLike
Pairs = Sequence[tuple[Key, Key]] | NumpyLike
Query = str | sql.Composable
