"""Results of calls: columns, which become numpy arrays, a pandas or polars DataFrame, or an Arrow table."""

from __future__ import annotations

import datetime
import decimal
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from ._rows import make_rows
from ._types import BYTES, EPOCH_DAYS, EPOCH_MICROSECONDS, FIXED

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

# Names of other packages for what a result has under its own.
_OTHER_NAMES = {
    "to_pandas": "pandas", "df": "pandas", "to_df": "pandas", "fetchdf": "pandas", "fetch_df": "pandas",
    "to_polars": "polars", "pl": "polars", "to_arrow": "arrow", "fetch_arrow_table": "arrow", "to_numpy": "numpy", "fetchnumpy": "numpy",
}


@dataclass(frozen=True)
class Column:
    """One column of a result, as it was received.

    ``values`` has an element for each row if the type has a fixed length, arbitrary for NULL. Otherwise it has
    the bytes of all values one after the other, and ``offsets``, one longer than the number of rows, has the beginning of each.
    ``valid`` is True where a value is not NULL; None: there is no NULL.
    """

    name: str
    type: str
    values: np.ndarray
    offsets: np.ndarray | None = None
    valid: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.values if self.offsets is None else self.offsets) - (self.offsets is not None)

    @property
    def null_count(self) -> int:
        """The number of NULLs."""
        return 0 if self.valid is None else len(self.valid) - int(np.count_nonzero(self.valid))

    def _strings(self) -> np.ndarray:
        """Get the values of a type without a fixed length, as objects, with None for NULL."""
        assert self.offsets is not None
        data, bounds = self.values.tobytes(), self.offsets.tolist()
        slices = (data[start:end] for start, end in zip(bounds, bounds[1:]))
        if self.type == BYTES:
            values: list[Any] = list(slices)
        elif self.type == "numeric":
            values = [decimal.Decimal(part.decode()) if part else None for part in slices]
        elif data.isascii():
            text = data.decode("ascii")
            values = [text[start:end] for start, end in zip(bounds, bounds[1:])]
        else:
            values = [part.decode("utf-8") for part in slices]
        return self._objects(values)

    def _objects(self, values: list[Any]) -> np.ndarray:
        result = np.empty(len(values), dtype=object)
        result[:] = values
        if self.valid is not None:
            result[~self.valid] = None
        return result

    def _times(self) -> np.ndarray:
        """Get dates and times as datetime64; infinite ones and NULLs are NaT."""
        kept = FIXED[self.type].kept
        limits = np.iinfo(kept)
        unit, shift = ("D", EPOCH_DAYS) if self.type == "date" else ("us", EPOCH_MICROSECONDS)
        result = (self.values.astype("i8") + shift).astype(f"datetime64[{unit}]")
        missing = (self.values == limits.max) | (self.values == limits.min)
        if self.valid is not None:
            missing |= ~self.valid
        result[missing] = np.datetime64("NaT")
        return result

    def numpy(self) -> np.ndarray:
        """Get the column as an array.

        Numbers and booleans keep their type; if there are NULLs, the array is masked. A ``uuid``, a ``text`` and any other
        type make an array of objects, with None for NULL; dates and times one of ``datetime64``, with ``NaT``.
        """
        if self.offsets is not None:
            return self._strings()
        if self.type == "uuid":
            data = self.values.tobytes()
            return self._objects([uuid.UUID(bytes=data[at : at + 16]) for at in range(0, len(data), 16)])
        if self.type in ("date", "timestamp without time zone", "timestamp with time zone"):
            return self._times()
        if self.valid is None:
            return self.values
        return np.ma.MaskedArray(self.values, mask=~self.valid)

    def objects(self) -> list[Any]:
        """Get the column as Python's own objects, with None for NULL and for infinite dates."""
        array = self.numpy()
        if array.dtype.kind == "M":
            years = array.astype("datetime64[Y]").astype("i8") + 1970
            if (~np.isnat(array) & ((years < datetime.MINYEAR) | (years > datetime.MAXYEAR))).any():
                # numpy would have mere numbers in their place.
                raise OverflowError(f"{self.name} has dates outside of the years 1 to 9999, which Python's datetime does not support: take them as numpy, or as text")
        values: list[Any] = array.tolist()
        return values

    def arrow(self) -> pyarrow.Array:
        """Get the column as an Arrow array. Numbers and texts are not copied."""
        import pyarrow as pa

        length, nulls = len(self), self.null_count
        bitmap = None
        if self.valid is not None:
            bitmap = pa.py_buffer(np.packbits(self.valid, bitorder="little"))
        if self.type == "numeric":
            if not all(value is None or value.is_finite() for value in self.numpy()):
                raise ValueError(f"{self.name} has a NaN or an infinity, which Arrow's decimals do not support: cast it to float8 or text in the query")
            return pa.array(self.numpy(), type=pa.decimal128(38, 19) if not length else None, from_pandas=True)
        if self.offsets is not None:
            kind = pa.large_binary() if self.type == BYTES else pa.large_utf8()
            return pa.Array.from_buffers(kind, length, [bitmap, pa.py_buffer(self.offsets), pa.py_buffer(self.values)], nulls)
        if self.type == "uuid":
            storage = pa.Array.from_buffers(pa.binary(16), length, [bitmap, pa.py_buffer(self.values.tobytes())], nulls)
            return pa.ExtensionArray.from_storage(pa.uuid(), storage) if hasattr(pa, "uuid") else storage
        if self.type == "boolean":
            bits = pa.py_buffer(np.packbits(self.values, bitorder="little"))
            return pa.Array.from_buffers(pa.bool_(), length, [bitmap, bits], nulls)
        if self.type in ("date", "timestamp without time zone", "timestamp with time zone"):
            kind = pa.date32() if self.type == "date" else pa.timestamp("us", "UTC" if "with time" in self.type else None)
            return pa.array(self._times(), from_pandas=True).cast(kind)
        kind = pa.from_numpy_dtype(self.values.dtype)
        return pa.Array.from_buffers(kind, length, [bitmap, pa.py_buffer(np.ascontiguousarray(self.values))], nulls)

    def pandas(self) -> Any:
        """Get the column as an array of pandas. With NULLs, numbers and booleans have the nullable types of pandas."""
        import pandas as pd

        if self.valid is not None and self.offsets is None and self.type != "uuid":
            if self.type == "boolean":
                return pd.arrays.BooleanArray(self.values, ~self.valid)
            if self.values.dtype.kind == "f":
                return pd.arrays.FloatingArray(self.values, ~self.valid)
            if self.type in ("smallint", "integer", "bigint", "oid"):
                return pd.arrays.IntegerArray(self.values, ~self.valid)
        values = self.numpy()
        if self.type == "timestamp with time zone":
            return pd.DatetimeIndex(values, tz="UTC")
        return values


class Result:
    """The rows of a call, column by column.

    ``result["vertex"]`` is a column as a numpy array. ``len(result)`` is the number of rows.
    """

    def __init__(self, columns: list[Column]):
        self._columns: dict[str, Column] = {column.name: column for column in columns}
        self._length = len(columns[0]) if columns else 0

    @property
    def columns(self) -> Mapping[str, Column]:
        """The columns as they were received, by name."""
        return self._columns

    def keys(self) -> list[str]:
        """Get the names of the columns, in order. Together with indexing they make ``dict(result)`` a dict of arrays."""
        return list(self._columns)

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, name: str) -> np.ndarray: ...

    @overload
    def __getitem__(self, name: list[str]) -> Result: ...

    def __getitem__(self, name: str | list[str]) -> np.ndarray | Result:
        """Get a column as a numpy array, or some columns as a result."""
        for one in name if isinstance(name, list) else [name]:
            if not isinstance(one, str) or one not in self._columns:
                raise KeyError(f"there is no column {one!r}; the columns are {', '.join(self._columns)}")
        if isinstance(name, list):
            return Result([self._columns[one] for one in name])
        return self._columns[name].numpy()

    def __getattr__(self, name: str) -> Any:
        """Name what there is in the error about an attribute that is not there."""
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
        if name in self._columns:
            hint = f"the column is result[{name!r}]"
        elif name in _OTHER_NAMES:
            hint = f"use {_OTHER_NAMES[name]}()"
        elif name in ("fetchall", "rows", "to_list", "tolist", "to_pylist"):
            hint = "use list(result)"
        else:
            hint = "it has numpy(), pandas(), polars() and arrow(), and its columns are " + ", ".join(f"result[{one!r}]" for one in self._columns)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}: {hint}", name=name, obj=self)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Give the rows to what takes Arrow, such as polars and DuckDB, by pyarrow."""
        return self.arrow().__arrow_c_stream__(requested_schema)

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """Iterate over the rows, as named tuples of Python's own types, with None for NULL."""
        return make_rows(tuple(self._columns), [column.objects() for column in self._columns.values()])

    def __repr__(self) -> str:
        inner = ", ".join(f"{column.name} {column.type}" for column in self._columns.values())
        return f"<emogi.Result: {self._length} rows of ({inner})>"

    def numpy(self) -> np.ndarray:
        """Get a structured array with a field for each column, masked if there are NULLs among numbers."""
        arrays = {name: self[name] for name in self._columns}
        dtype = np.dtype([(name, array.dtype) for name, array in arrays.items()])
        masked = any(isinstance(array, np.ma.MaskedArray) for array in arrays.values())
        result = np.ma.zeros(self._length, dtype) if masked else np.zeros(self._length, dtype)
        for name, array in arrays.items():
            result[name] = array
        return result

    def pandas(self) -> pandas.DataFrame:
        """Get a DataFrame."""
        import pandas as pd

        return pd.DataFrame({name: column.pandas() for name, column in self._columns.items()}, index=pd.RangeIndex(self._length))

    def polars(self) -> polars.DataFrame:
        """Get a DataFrame of polars, by way of pyarrow. A ``uuid`` is 16 bytes in it."""
        import polars as pl
        import pyarrow as pa

        # Before 1.34 or so, polars knows no extension types.
        arrays = {name: column.arrow() for name, column in self._columns.items()}
        plain = {name: array.storage if isinstance(array, pa.ExtensionArray) else array for name, array in arrays.items()}
        frame = pl.from_arrow(pa.table(plain))
        assert isinstance(frame, pl.DataFrame)
        return frame

    def arrow(self) -> pyarrow.Table:
        """Get an Arrow table."""
        import pyarrow as pa

        return pa.table({name: column.arrow() for name, column in self._columns.items()})
