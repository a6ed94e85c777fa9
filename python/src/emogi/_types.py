"""The types of PostgreSQL that are read as arrays, and how each is sent in binary."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class FixedType:
    """A type whose values all have the same number of bytes: as the server sends it, and as numpy has it here."""

    sent: np.dtype
    kept: np.dtype


def _fixed(sent: str, kept: str) -> FixedType:
    return FixedType(np.dtype(sent), np.dtype(kept))


FIXED: dict[str, FixedType] = {
    "boolean": _fixed("?", "?"),
    "smallint": _fixed(">i2", "i2"),
    "integer": _fixed(">i4", "i4"),
    "bigint": _fixed(">i8", "i8"),
    "oid": _fixed(">u4", "u4"),
    "real": _fixed(">f4", "f4"),
    "double precision": _fixed(">f8", "f8"),
    "uuid": _fixed("V16", "V16"),
    "date": _fixed(">i4", "i4"),
    "timestamp without time zone": _fixed(">i8", "i8"),
    "timestamp with time zone": _fixed(">i8", "i8"),
}

# Everything else is read as text. A bytea has bytes.
TEXT = "text"
BYTES = "bytea"

# Types by their numbers in pg_type, which do not change.
BY_OID: dict[int, str] = {
    16: "boolean",
    17: BYTES,
    20: "bigint",
    21: "smallint",
    23: "integer",
    26: "oid",
    700: "real",
    701: "double precision",
    1082: "date",
    1114: "timestamp without time zone",
    1184: "timestamp with time zone",
    1700: "numeric",
    2950: "uuid",
}

# Days and microseconds from 1970, where numpy begins, to 2000, where PostgreSQL does.
EPOCH_DAYS = 10957
EPOCH_MICROSECONDS = EPOCH_DAYS * 86_400_000_000
